// Prints one class per struct: a view over a value::Value with a method per field. Classes come in
// the order that C++ needs, those used by others first; a struct that contains itself is fine,
// since method bodies see the whole class.

#include <algorithm>
#include <set>
#include <unordered_map>

#include "emit.h"

namespace keelson::apigen {

using schema::Field;
using schema::TypeKind;

namespace {

// JSON names that C++ keeps for itself, or that views use.
const std::set<std::string_view> kReserved = {
    "and",      "auto",     "bool",      "break",  "case",      "catch",    "char",    "class",
    "const",    "continue", "default",   "delete", "do",        "double",   "else",    "enum",
    "explicit", "export",   "extern",    "false",  "float",     "for",      "friend",  "goto",
    "if",       "inline",   "int",       "long",   "namespace", "new",      "not",     "operator",
    "or",       "private",  "protected", "public", "register",  "return",   "short",   "signed",
    "sizeof",   "static",   "struct",    "switch", "template",  "this",     "throw",   "true",
    "try",      "typedef",  "typename",  "union",  "unsigned",  "using",    "virtual", "void",
    "volatile", "while",    "xor",       "value",  "requires",  "type_info"};

std::string Identifier(std::string_view json_name) {
  std::string out;
  for (char c : json_name) {
    if (c == '$') {
      out += "dollar_";
    } else {
      out += c == '-' ? '_' : c;
    }
  }
  if (kReserved.contains(out)) out += '_';
  return out;
}

// "client auth" -> kClientAuth
std::string ConstantName(std::string_view value) {
  std::string out = "k";
  bool upper = true;
  for (char c : value) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit) {
      upper = true;
      if (c == '*') out += "All";
      continue;
    }
    out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    upper = false;
  }
  if (value.empty()) out += "Empty";
  return out;
}

class Accessors {
 public:
  Accessors(const Model& model, const NameTable& names, size_t file, const EmitOptions& options)
      : model_(model), names_(names), file_(file), options_(options) {}

  Result<std::string> Run() {
    const ModelFile& file = model_.files[file_];
    for (TypeIndex type : file.named) TRY_VOID(Visit(type));
    std::string out = fmt::format(
        "#pragma once\n\n// Made by apigen from {}.api. Do not edit.\n\n"
        "#include \"{}/catalog.h\"\n",
        file.source->name, options_.include_dir);
    for (size_t other : included_)
      fmt::format_to(std::back_inserter(out), "#include \"{}/{}.h\"\n", options_.include_dir,
                     FileIdentifier(model_.files[other].source->name));
    out += "#include \"schema/view.h\"\n\n";
    const std::string space = options_.cpp_namespace + "::" + FileIdentifier(file.source->name);
    fmt::format_to(std::back_inserter(out), "namespace {} {{\n\n{}}}  // namespace {}\n", space,
                   body_, space);
    return out;
  }

 private:
  bool IsClass(TypeIndex type) const {
    return model_.types[type].kind == TypeKind::kStruct && model_.types[type].info_of == type;
  }

  // The struct that a field of this type holds, through lists and maps; or kNone.
  TypeIndex ClassBehind(TypeIndex type) const {
    while (!IsClass(type)) {
      type = model_.types[type].element;
      if (type == kNone) return kNone;
      const TypeKind kind = model_.types[type].kind;
      if (kind != TypeKind::kList && kind != TypeKind::kMap && kind != TypeKind::kStruct)
        return kNone;
    }
    return type;
  }

  Result<void> Visit(TypeIndex index) {
    const ModelType& type = model_.types[index];
    if (done_.contains(index)) return {};
    if (!type.known_values.empty()) {
      done_.insert(index);
      Constants(type);
      return {};
    }
    if (!IsClass(index)) return {};
    if (!open_.insert(index).second)
      return Fail(ErrorCode::kInvalid, "{} and another struct contain each other", type.name);
    for (const ModelField& field : type.fields) {
      const TypeKind kind = model_.types[field.type].kind;
      if (kind == TypeKind::kSchemaOrBool || kind == TypeKind::kSchemaOrArray ||
          kind == TypeKind::kSchemaOrStrings)
        continue;
      const TypeIndex behind = ClassBehind(field.type);
      if (behind == kNone || behind == index) continue;
      if (model_.types[behind].file != file_) {
        included_.insert(model_.types[behind].file);
      } else {
        TRY_VOID(Visit(behind));
      }
    }
    open_.erase(index);
    done_.insert(index);
    Class(index);
    return {};
  }

  void Constants(const ModelType& type) {
    fmt::format_to(std::back_inserter(body_), "namespace {} {{\n", type.name);
    std::set<std::string> seen;
    for (const std::string& value : type.known_values) {
      std::string name = ConstantName(value);
      while (!seen.insert(name).second) name += '_';
      fmt::format_to(std::back_inserter(body_), "inline constexpr std::string_view {} = {};\n",
                     name, Literal(value));
    }
    fmt::format_to(std::back_inserter(body_), "}}  // namespace {}\n\n", type.name);
  }

  void Class(TypeIndex index) {
    const ModelType& type = model_.types[index];
    if (!type.description.empty())
      fmt::format_to(std::back_inserter(body_), "// {}\n", type.description);
    fmt::format_to(
        std::back_inserter(body_),
        "class {0} : public keelson::schema::View {{\n public:\n"
        "  using View::View;\n"
        "  static const keelson::schema::Type& Schema() {{ return internal::kTypes[{1}]; "
        "}}\n",
        type.name, index);
    std::string names;
    for (const ModelField& field : type.fields) {
      if (field.flags & Field::kNotInJson) continue;
      const std::string identifier = Identifier(field.name);
      const size_t name = names_.IndexOf(field.name);
      fmt::format_to(std::back_inserter(body_),
                     "  {} {}() const {{ return Get<{}>(internal::kNames[{}]); }}\n",
                     CppType(field), identifier, CppType(field), name);
      fmt::format_to(std::back_inserter(names),
                     "    static constexpr const keelson::value::Name& {} = "
                     "internal::kNames[{}];\n",
                     identifier, name);
    }
    if (!names.empty())
      fmt::format_to(std::back_inserter(body_), "  struct Names {{\n{}  }};\n", names);
    body_ += "};\n\n";
  }

  std::string CppType(const ModelField& field) const {
    const std::string type = CppType(field.type);
    const TypeKind kind = model_.types[field.type].kind;
    const bool scalar = kind != TypeKind::kStruct && kind != TypeKind::kList &&
                        kind != TypeKind::kMap && type != "keelson::value::Value";
    return scalar && (field.flags & Field::kPointer) ? fmt::format("std::optional<{}>", type)
                                                     : type;
  }

  std::string CppType(TypeIndex index) const {
    const ModelType& type = model_.types[index];
    switch (type.kind) {
      case TypeKind::kString:
      case TypeKind::kBytes:
      case TypeKind::kQuantity:
      case TypeKind::kTime:
      case TypeKind::kMicroTime:
      case TypeKind::kDuration:
        return "std::string_view";
      case TypeKind::kInt32:
        return "int32_t";
      case TypeKind::kInt64:
        return "int64_t";
      case TypeKind::kBool:
        return "bool";
      case TypeKind::kDouble:
        return "double";
      case TypeKind::kStruct:
        return type.file == file_
                   ? type.name
                   : fmt::format("{}::{}", FileIdentifier(model_.files[type.file].source->name),
                                 type.name);
      case TypeKind::kList:
        return fmt::format("keelson::schema::ListView<{}>", CppType(type.element));
      case TypeKind::kMap:
        return fmt::format("keelson::schema::MapView<{}>", CppType(type.element));
      default:
        return "keelson::value::Value";
    }
  }

  const Model& model_;
  const NameTable& names_;
  size_t file_;
  const EmitOptions& options_;
  std::string body_;
  std::set<TypeIndex> open_;
  std::set<TypeIndex> done_;
  std::set<size_t> included_;
};

}  // namespace

Result<std::string> EmitAccessors(const Model& model, const NameTable& names, size_t file,
                                  const EmitOptions& options) {
  return Accessors(model, names, file, options).Run();
}

}  // namespace keelson::apigen
