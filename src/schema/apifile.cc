// The grammar is on one page, docs/api-format.md. The parser goes line by line: a line that starts
// in the first column opens a declaration, indented lines belong to the one that is open.

#include "schema/apifile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <unordered_set>

#include "schema/apifile_line.h"

namespace keelson::schema {
namespace {

using internal::ApiError;
using internal::Line;
using internal::Word;

bool IsTypeName(std::string_view text) {
  if (text.empty() || text[0] < 'A' || text[0] > 'Z') return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

bool IsFieldName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '$';
  });
}

// file.v1.Name or Name.
bool IsTypeReference(std::string_view text) { return IsTypeName(text.substr(text.rfind('.') + 1)); }

constexpr std::array kScalars = {
    "string",   "int32",       "int64", "bool",         "double",        "bytes",
    "quantity", "intOrString", "time",  "microTime",    "duration",      "rawExtension",
    "fieldsV1", "json",        "any",   "schemaOrBool", "schemaOrArray", "schemaOrStrings"};

constexpr std::array kConstraints = {"min",      "max",      "minLength", "maxLength",
                                     "maxBytes", "maxItems", "pattern",   "format"};

bool Among(const auto& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

class Parser {
 public:
  Parser(std::string_view file_name, std::string_view text) : file_name_(file_name), text_(text) {}

  Result<ApiFile> Run() {
    if (text_.size() > kMaxApiFileBytes)
      return Fail(ErrorCode::kTooLarge, "{}: larger than {} bytes", file_name_, kMaxApiFileBytes);
    uint32_t number = 0;
    while (!text_.empty()) {
      const size_t end = text_.find('\n');
      TRY(Line line, internal::SplitLine(file_name_, ++number, text_.substr(0, end)));
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      TRY_VOID(OneLine(line));
    }
    if (file_.name.empty()) return Bad({number, 1}, "no api line");
    if (file_.package.empty()) return Bad({number, 1}, "no package line");
    return std::move(file_);
  }

 private:
  enum class Open : uint8_t { kNothing, kApi, kResource, kFields, kValues, kClosed };

  std::unexpected<Error> Bad(SourcePlace place, std::string_view what) const {
    return ApiError(file_name_, place, what);
  }
  std::unexpected<Error> Bad(const Word& word, std::string_view what) const {
    return Bad(word.place, fmt::format("{} '{}'", what, word.text));
  }

  Result<void> OneLine(const Line& line) {
    if (line.words.empty()) {
      // A description alone belongs to the next line that declares something.
      if (!line.description.empty()) {
        if (!description_.empty()) return Bad({line.number, 1}, "two descriptions in a row");
        description_ = line.description;
      }
      return {};
    }
    if (!line.description.empty()) {
      if (!description_.empty()) return Bad({line.number, 1}, "described twice");
      description_ = line.description;
    }
    TRY_VOID(line.indented ? Indented(line) : Declaration(line));
    if (!description_.empty()) return Bad({line.number, 1}, "nothing here to be described");
    return {};
  }

  Result<void> Indented(const Line& line) {
    switch (open_) {
      case Open::kApi:
        return ApiProperty(line);
      case Open::kResource:
        return ResourceProperty(line);
      case Open::kFields:
        return FieldLine(line);
      case Open::kValues:
        return Values(line, 0);
      case Open::kNothing:
      case Open::kClosed:
        break;
    }
    return Bad({line.number, 1}, "indented line belongs to nothing");
  }

  std::string TakeDescription() { return std::exchange(description_, {}); }

  Result<void> Declaration(const Line& line) {
    const std::string_view keyword = line.words[0].text;
    if (line.words.size() < 2) return Bad(line.words[0], "name missing after");
    if (keyword == "api") {
      if (!file_.name.empty()) return Bad(line.words[0], "second line");
      if (line.words.size() > 2) return Bad(line.words[2], "unexpected");
      file_.name = line.words[1].text;
      open_ = Open::kApi;
      return {};
    }
    if (file_.name.empty()) return Bad(line.words[0], "the file must start with an api line, not");
    if (keyword == "resource") return ResourceLine(line);
    return TypeLine(line);
  }

  Result<void> ApiProperty(const Line& line) {
    const Word& key = line.words[0];
    const size_t count = line.words.size();
    if (count == 1 && key.text == "served") {
      file_.served = true;
    } else if (count == 1 && key.text == "unpublished") {
      file_.unpublished = true;
    } else if (count == 1 && key.text == "nowire") {
      file_.no_wire = true;
    } else if (count == 2 && key.text == "group") {
      TRY(file_.group, internal::Unquote(file_name_, line.words[1], line.words[1].text));
      file_.versioned = true;
    } else if (count == 2 && key.text == "version") {
      file_.version = line.words[1].text;
    } else if (count == 2 && key.text == "package") {
      file_.package = line.words[1].text;
    } else if (count == 3 && key.text == "priority") {
      TRY(file_.group_priority, Number(line.words[1]));
      TRY(file_.version_priority, Number(line.words[2]));
    } else {
      return Bad(key, "unknown or incomplete property");
    }
    return {};
  }

  Result<uint32_t> Number(const Word& word) const {
    uint32_t number = 0;
    const char* end = word.text.data() + word.text.size();
    const auto parsed = std::from_chars(word.text.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) return Bad(word, "not a number");
    return number;
  }

  // resource pods Pod namespaced short=po categories=all
  Result<void> ResourceLine(const Line& line) {
    if (line.words.size() < 4) return Bad(line.words[0], "plural, kind and scope must follow");
    ApiResource& resource = file_.resources.emplace_back();
    resource.place = line.words[0].place;
    resource.plural = line.words[1].text;
    resource.kind = line.words[2].text;
    if (!IsTypeName(resource.kind)) return Bad(line.words[2], "not a kind");
    const std::string_view scope = line.words[3].text;
    if (scope != "namespaced" && scope != "cluster") return Bad(line.words[3], "unknown scope");
    resource.namespaced = scope == "namespaced";
    for (char c : resource.kind) resource.singular += static_cast<char>(c | 0x20);
    for (size_t i = 4; i < line.words.size(); ++i) {
      const Word& word = line.words[i];
      const size_t equals = word.text.find('=');
      const std::string_view key = word.text.substr(0, equals);
      const std::string_view value =
          equals == std::string_view::npos ? "" : word.text.substr(equals + 1);
      if (key == "singular" && !value.empty()) {
        resource.singular = value;
      } else if (key == "short" && !value.empty()) {
        resource.short_names = SplitAtCommas(value);
      } else if (key == "categories" && !value.empty()) {
        resource.categories = SplitAtCommas(value);
      } else if (word.text == "returnsDeleted") {
        resource.returns_deleted = true;
      } else {
        return Bad(word, "unknown property");
      }
    }
    if (!resources_.insert(resource.plural).second)
      return Bad(line.words[1], "resource declared twice");
    open_ = Open::kResource;
    return {};
  }

  Result<void> ResourceProperty(const Line& line) {
    ApiResource& resource = file_.resources.back();
    const std::string_view key = line.words[0].text;
    if (line.words.size() < 2) return Bad(line.words[0], "nothing follows");
    if (key == "verbs") return Verbs(line, 1, resource.verbs);
    if (key == "sub") return SubresourceLine(line, resource);
    if (key == "columns") {
      for (const Word& word : std::span(line.words).subspan(1)) TRY_VOID(Column(word, resource));
      return {};
    }
    if (key == "select") {
      for (const Word& word : std::span(line.words).subspan(1)) {
        const size_t equals = word.text.find('=');
        const bool same = equals == std::string_view::npos;
        resource.selectors.push_back({std::string(word.text.substr(0, equals)),
                                      same ? "" : std::string(word.text.substr(equals + 1))});
      }
      return {};
    }
    if (line.words.size() > 2) return Bad(line.words[2], "unexpected");
    if (key == "hash") {
      TRY(resource.storage_hash, internal::Unquote(file_name_, line.words[1], line.words[1].text));
      return {};
    }
    if (key == "stored") {
      if (!IsTypeReference(line.words[1].text)) return Bad(line.words[1], "not a type");
      resource.stored = line.words[1].text;
      return {};
    }
    return Bad(line.words[0], "unknown property");
  }

  // Reads verbs from `from` on and stops at the first word that is none.
  Result<void> Verbs(const Line& line, size_t from, std::vector<std::string>& verbs) {
    static constexpr std::array kVerbs = {"create", "delete", "deletecollection", "get",
                                          "list",   "patch",  "update",           "watch"};
    if (line.words.size() == from + 1 && line.words[from].text == "all") {
      verbs.assign(kVerbs.begin(), kVerbs.end());
      return {};
    }
    for (size_t i = from; i < line.words.size(); ++i) {
      if (!Among(kVerbs, line.words[i].text)) return Bad(line.words[i], "unknown verb");
      verbs.emplace_back(line.words[i].text);
    }
    return {};
  }

  // sub proxy create get body=PodProxyOptions connect path
  Result<void> SubresourceLine(const Line& line, ApiResource& resource) {
    ApiSubresource& sub = resource.subresources.emplace_back();
    sub.place = line.words[0].place;
    sub.name = line.words[1].text;
    Line verbs = line;
    while (verbs.words.size() > 2) {
      const Word& last = verbs.words.back();
      if (last.text == "connect") {
        sub.connect = true;
      } else if (last.text == "path") {
        sub.path = true;
      } else if (last.text.starts_with("body=") && IsTypeReference(last.text.substr(5))) {
        sub.body = last.text.substr(5);
      } else if (last.text.starts_with("options=") && IsTypeReference(last.text.substr(8))) {
        sub.options = last.text.substr(8);
      } else {
        break;
      }
      verbs.words.pop_back();
    }
    return Verbs(verbs, 2, sub.verbs);
  }

  // +"First Seen":date/format
  Result<void> Column(const Word& word, ApiResource& resource) {
    std::string_view text = word.text;
    ApiColumn& column = resource.columns.emplace_back();
    column.wide = text.starts_with('+');
    if (column.wide) text.remove_prefix(1);
    size_t name_end = text.find_first_of(":/");
    if (text.starts_with('"')) {
      name_end = text.find('"', 1);
      if (name_end != std::string_view::npos) ++name_end;
    }
    TRY(column.name, internal::Unquote(file_name_, word, text.substr(0, name_end)));
    text = name_end == std::string_view::npos ? "" : text.substr(name_end);
    if (text.starts_with(':')) {
      const size_t slash = text.find('/');
      column.type = text.substr(1, slash == std::string_view::npos ? slash : slash - 1);
      text = slash == std::string_view::npos ? "" : text.substr(slash);
    }
    if (text.starts_with('/')) {
      column.format = text.substr(1);
      text = {};
    }
    if (!text.empty() || column.name.empty() || column.type.empty())
      return Bad(word, "not a column");
    return {};
  }

  Result<void> TypeLine(const Line& line);
  Result<void> TypeFlag(const Word& word, ApiDeclaration& declaration);
  Result<void> Values(const Line& line, size_t from);
  Result<void> FieldLine(const Line& line);
  Result<void> Attribute(const Word& word, ApiField& field);
  Result<ApiTypeRef> TypeRef(std::string_view text, SourcePlace place, size_t depth);

  std::string_view file_name_;
  std::string_view text_;
  ApiFile file_;
  Open open_ = Open::kNothing;
  std::string description_;
  std::unordered_set<std::string> resources_;
  std::unordered_set<std::string> types_;
  std::unordered_set<std::string> fields_;  // of the open struct
  std::unordered_set<uint32_t> field_numbers_;
};

// kind Pod list=PodList | struct X flags | enum X A B | string X A B | alias X {T} | scalar X time
Result<void> Parser::TypeLine(const Line& line) {
  using Form = ApiDeclaration::Form;
  static constexpr std::array kKeywords = {"kind", "struct", "enum", "string", "alias", "scalar"};
  const auto keyword = std::ranges::find(kKeywords, line.words[0].text);
  if (keyword == kKeywords.end()) return Bad(line.words[0], "unknown declaration");
  ApiDeclaration& declaration = file_.declarations.emplace_back();
  declaration.place = line.words[0].place;
  declaration.form = static_cast<Form>(keyword - kKeywords.begin());
  declaration.name = line.words[1].text;
  declaration.description = TakeDescription();
  if (!IsTypeName(declaration.name)) return Bad(line.words[1], "not a type name");
  if (!types_.insert(declaration.name).second) return Bad(line.words[1], "type declared twice");
  fields_.clear();
  field_numbers_.clear();
  size_t next = 2;
  switch (declaration.form) {
    case Form::kEnum:
    case Form::kString:
      open_ = Open::kValues;
      return Values(line, 2);
    case Form::kAlias:
    case Form::kScalar: {
      if (line.words.size() < 3) return Bad(line.words[0], "type missing after");
      TRY(declaration.alias, TypeRef(line.words[2].text, line.words[2].place, 0));
      if (declaration.form == Form::kScalar) {
        if (declaration.alias.form != ApiTypeRef::Form::kScalar)
          return Bad(line.words[2], "not a scalar");
        declaration.scalar = declaration.alias.name;
      }
      open_ = declaration.form == Form::kScalar ? Open::kFields : Open::kClosed;
      next = 3;
      break;
    }
    case Form::kKind:
    case Form::kStruct:
      open_ = Open::kFields;
      break;
  }
  for (; next < line.words.size(); ++next) TRY_VOID(TypeFlag(line.words[next], declaration));
  return {};
}

Result<void> Parser::TypeFlag(const Word& word, ApiDeclaration& declaration) {
  static constexpr std::pair<std::string_view, bool ApiDeclaration::*> kFlags[] = {
      {"atomic", &ApiDeclaration::atomic},           {"nowire", &ApiDeclaration::no_wire},
      {"unpublished", &ApiDeclaration::unpublished}, {"ownJson", &ApiDeclaration::own_json},
      {"everywhere", &ApiDeclaration::everywhere},   {"unversioned", &ApiDeclaration::unversioned},
      {"wrapped", &ApiDeclaration::wrapped},
  };
  for (const auto& [name, member] : kFlags) {
    if (word.text == name) {
      declaration.*member = true;
      return {};
    }
  }
  if (word.text.starts_with("list=") && declaration.form == ApiDeclaration::Form::kKind) {
    declaration.list_kind = word.text.substr(5);
    if (!IsTypeName(declaration.list_kind)) return Bad(word, "not a type name");
    if (!types_.insert(declaration.list_kind).second) return Bad(word, "type declared twice");
    return {};
  }
  return Bad(word, "unknown flag");
}

Result<void> Parser::Values(const Line& line, size_t from) {
  ApiDeclaration& declaration = file_.declarations.back();
  for (size_t i = from; i < line.words.size(); ++i) {
    const Word& word = line.words[i];
    if (word.text.starts_with("go=")) {
      declaration.go_name = word.text.substr(3);
      continue;
    }
    TRY(std::string value, internal::Unquote(file_name_, word, word.text));
    if (!fields_.insert(value).second) return Bad(word, "value listed twice");
    declaration.values.push_back(std::move(value));
  }
  return {};
}

// 20  readOnly  bool?  gate=X  // description
//  1  ...ProbeHandler
Result<void> Parser::FieldLine(const Line& line) {
  ApiDeclaration& declaration = file_.declarations.back();
  ApiField& field = declaration.fields.emplace_back();
  field.description = TakeDescription();
  const Word& number = line.words[0];
  field.place = number.place;
  if (number.text != "-") {
    TRY(field.number, Number(number));
    if (field.number == 0 || field.number >= (1u << 29)) return Bad(number, "not a field number");
    if (!field_numbers_.insert(field.number).second) return Bad(number, "number used twice");
  }
  if (line.words.size() < 2) return Bad(number, "name missing after");
  const Word& name = line.words[1];
  if (name.text.starts_with("...")) {
    if (line.words.size() > 2) return Bad(line.words[2], "unexpected");
    if (!IsTypeReference(name.text.substr(3))) return Bad(name, "not a type");
    field.embedded = true;
    TRY(field.type, TypeRef(name.text.substr(3), name.place, 0));
    return {};
  }
  if (!IsFieldName(name.text)) return Bad(name, "not a field name");
  if (!fields_.insert(std::string(name.text)).second) return Bad(name, "field declared twice");
  field.name = name.text;
  if (line.words.size() < 3) return Bad(name, "type missing after");
  std::string_view type = line.words[2].text;
  if (type.ends_with('!')) {
    field.required = true;
    type.remove_suffix(1);
  }
  if (type.ends_with('?')) {
    field.pointer = true;
    type.remove_suffix(1);
  }
  field.omit_empty = !field.required;
  TRY(field.type, TypeRef(type, line.words[2].place, 0));
  for (size_t i = 3; i < line.words.size(); ++i) TRY_VOID(Attribute(line.words[i], field));
  return {};
}

Result<void> Parser::Attribute(const Word& word, ApiField& field) {
  static constexpr std::pair<std::string_view, bool ApiField::*> kFlags[] = {
      {"omitempty", &ApiField::omit_empty},
      {"omitzero", &ApiField::omit_zero},
      {"hidden", &ApiField::hidden},
      {"immutable", &ApiField::immutable},
      {"atomic", &ApiField::atomic},
      {"granular", &ApiField::granular},
      {"set", &ApiField::set},
      {"merge", &ApiField::merge},
      {"replace", &ApiField::replace},
      {"retainKeys", &ApiField::retain_keys},
      {"discriminator", &ApiField::discriminator},
  };
  for (const auto& [name, member] : kFlags) {
    if (word.text == name) {
      field.*member = true;
      return {};
    }
  }
  if (word.text == "always") {
    field.omit_empty = false;
    return {};
  }
  const size_t cut = word.text.find_first_of("=(");
  if (cut == std::string_view::npos) return Bad(word, "unknown attribute");
  const std::string_view key = word.text.substr(0, cut);
  std::string_view value = word.text.substr(cut + 1);
  if (word.text[cut] == '(') {
    if (!value.ends_with(')') || value.size() < 2) return Bad(word, "not closed");
    value.remove_suffix(1);
    if (key == "map") {
      field.map_keys = SplitAtCommas(value);
      return {};
    }
    if (key == "merge" || key == "mergeKey") {
      if (key == "merge") field.merge = true;
      field.merge_key = value;
      return {};
    }
    return Bad(word, "unknown attribute");
  }
  if (value.empty()) return Bad(word, "nothing follows");
  if (key.empty()) {
    field.default_json = std::string(value);
    return {};
  }
  if (key == "gate") {
    field.gate = value;
  } else if (key == "member") {
    field.member = std::string(value);
  } else if (key == "oneOf") {
    field.one_of = value;
  } else if (key == "zeroOrOneOf") {
    field.zero_or_one_of = value;
  } else if (Among(kConstraints, key)) {
    TRY(std::string text, internal::Unquote(file_name_, word, value));
    field.constraints.push_back({std::string(key), std::move(text)});
  } else {
    return Bad(word, "unknown attribute");
  }
  return {};
}

Result<ApiTypeRef> Parser::TypeRef(std::string_view text, SourcePlace place, size_t depth) {
  ApiTypeRef type{.place = place};
  if (depth > kMaxApiTypeDepth) return Bad(place, "type is nested too deeply");
  const bool list = text.size() >= 2 && text.front() == '[' && text.back() == ']';
  const bool map = text.size() >= 2 && text.front() == '{' && text.back() == '}';
  if (list || map) {
    type.form = list ? ApiTypeRef::Form::kList : ApiTypeRef::Form::kMap;
    TRY(ApiTypeRef element, TypeRef(text.substr(1, text.size() - 2), place, depth + 1));
    type.element.push_back(std::move(element));
    return type;
  }
  type.name = text;
  if (Among(kScalars, text)) {
    type.form = ApiTypeRef::Form::kScalar;
  } else if (IsTypeReference(text)) {
    type.form = ApiTypeRef::Form::kNamed;
  } else {
    return Bad(place, fmt::format("'{}' is not a type", text));
  }
  return type;
}

}  // namespace

Result<ApiFile> ParseApiFile(std::string_view file_name, std::string_view text) {
  return Parser(file_name, text).Run();
}

}  // namespace keelson::schema
