#include "schema/validate.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_map>

#include "schema/crd.h"
#include "value/json.h"

namespace keelson::schema {

using value::Kind;
using value::Member;
using value::Path;
using value::Value;

namespace {

constexpr size_t kMaxErrors = 1000;

std::string_view ExpectedType(TypeKind kind) {
  switch (kind) {
    case TypeKind::kStruct:
    case TypeKind::kMap:
      return "object";
    case TypeKind::kList:
      return "array";
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kTime:
    case TypeKind::kMicroTime:
    case TypeKind::kDuration:
      return "string";
    case TypeKind::kInt32:
    case TypeKind::kInt64:
      return "integer";
    case TypeKind::kDouble:
      return "number";
    case TypeKind::kBool:
      return "boolean";
    case TypeKind::kIntOrString:
      return "integer,string";
    default:
      return {};
  }
}

std::string_view ActualType(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "boolean";
    case Kind::kInt:
      return "integer";
    case Kind::kDouble:
      return "number";
    case Kind::kString:
      return "string";
    case Kind::kList:
      return "array";
    case Kind::kObject:
      return "object";
  }
  return {};
}

bool TypeFits(TypeKind kind, const Value& value) {
  std::string_view expected = ExpectedType(kind);
  std::string_view actual = ActualType(value);
  if (expected.empty() || expected == actual) return true;
  if (kind == TypeKind::kIntOrString) return value.is_int() || value.is_string();
  if (expected == "number") return value.is_int();
  // 3.0 counts as an integer.
  return expected == "integer" && value.is_double() &&
         value.AsDouble() == std::trunc(value.AsDouble());
}

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

// Compiled patterns, per thread: the same few are asked for with every object.
const RE2& Compiled(std::string_view pattern) {
  constexpr size_t kMaxCached = 1024;
  thread_local std::unordered_map<std::string, std::unique_ptr<RE2>> cache;
  auto found = cache.find(std::string(pattern));
  if (found == cache.end()) {
    if (cache.size() >= kMaxCached) cache.clear();
    RE2::Options options(RE2::Quiet);
    options.set_max_mem(1 << 20);
    found = cache.emplace(pattern, std::make_unique<RE2>(std::string(pattern), options)).first;
  }
  return *found->second;
}

std::string NumberText(double number, bool integral) {
  if (integral && std::abs(number) < 1e18) return std::to_string(static_cast<int64_t>(number));
  std::string text;
  value::AppendJsonDouble(text, number);
  return text;
}

class Validator {
 public:
  FieldErrors Run(const Type& type, const Value& value, const Value* old) {
    Check(type, value, Path(), old);
    return std::move(errors_);
  }

 private:
  static std::string NameOf(const Path& path) { return path.empty() ? "" : path.ToString(); }
  static std::string InBody(const Path& path, std::string_view what) {
    return NameOf(path) + " in body " + std::string(what);
  }
  void Add(FieldError error) {
    if (errors_.size() < kMaxErrors) errors_.push_back(std::move(error));
  }

  void Check(const Type& type, const Value& value, const Path& path, const Value* old) {
    if (old != nullptr && *old == value) return;
    if (value.is_null() && type.Has(Type::kNullable)) return;
    if (!TypeFits(type.kind, value)) {
      std::string_view actual = ActualType(value);
      Add(TypeInvalid(path, actual,
                      InBody(path, fmt::format("must be of type {}: \"{}\"",
                                               ExpectedType(type.kind), actual))));
    }
    if (value.is_null()) return;
    for (const Rule& rule : type.rules()) Logical(rule, value, path);
    for (const Rule& rule : type.rules()) Simple(rule, value, path);
    if (value.is_list() && type.element && type.kind == TypeKind::kList) {
      Items(type, value, path, old);
    }
    if (value.is_object()) Object(type, value, path, old);
  }

  // The item that was there before with the same keys. Items of other lists cannot be told apart.
  static const Value* Before(const Type& list, const Value& item, const Value* old) {
    if (old == nullptr || list.list_type != ListType::kMap) return nullptr;
    for (const Value& before : old->items()) {
      const auto same = [&](std::string_view key) { return before[key] == item[key]; };
      if (std::ranges::all_of(list.keys(), same)) return &before;
    }
    return nullptr;
  }

  void Items(const Type& type, const Value& value, const Path& path, const Value* old) {
    for (size_t i = 0; i < value.items().size(); ++i) {
      const Value& item = value.items()[i];
      Path inner = path.Index(i);
      Check(*type.element, item, inner, Before(type, item, old));
    }
  }

  void Object(const Type& type, const Value& value, const Path& path, const Value* old) {
    const auto before = [&](const Member& member) {
      return old != nullptr ? old->Find(*member.name) : nullptr;
    };
    if (type.kind == TypeKind::kMap && type.element) {
      for (const Member& member : value.members()) {
        Path inner = path.Child(member.key());
        Check(*type.element, member.value, inner, before(member));
      }
      return;
    }
    for (const Member& member : value.members()) {
      const Field* field = type.Find(*member.name);
      // The rules for metadata are the same for all kinds.
      if (!field || (IsCustomObject(type) && member.key() == "metadata")) continue;
      Path inner = path.Child(member.key());
      Check(*field->type, member.value, inner, before(member));
    }
    for (const Field& field : type.fields()) {
      if (field.required() && !value.Find(*field.name)) {
        Add(Required(path.Child(field.text()), ""));
      }
    }
  }

  void Logical(const Rule& rule, const Value& value, const Path& path) {
    auto fails = [&](const Type& type) {
      Validator inner;
      inner.Check(type, value, path, nullptr);
      return std::move(inner.errors_);
    };
    auto refuse = [&](std::string_view what) {
      Add(Invalid(Path(), "", fmt::format("\"{}\" must {}", NameOf(path), what)));
    };
    switch (rule.kind) {
      case RuleKind::kAllOf:
        for (const Type* type : rule.types()) Append(errors_, fails(*type));
        return;
      case RuleKind::kAnyOf:
      case RuleKind::kOneOf: {
        size_t valid = 0;
        FieldErrors first;
        for (const Type* type : rule.types()) {
          FieldErrors errors = fails(*type);
          if (errors.empty()) {
            ++valid;
          } else if (first.empty()) {
            first = std::move(errors);
          }
        }
        if (rule.kind == RuleKind::kAnyOf && valid == 0) {
          refuse("validate at least one schema (anyOf)");
          Append(errors_, std::move(first));
        } else if (rule.kind == RuleKind::kOneOf && valid != 1) {
          refuse(valid == 0 ? "validate one and only one schema (oneOf). Found none valid"
                            : fmt::format("validate one and only one schema (oneOf). Found {} "
                                          "valid alternatives",
                                          valid));
          if (valid == 0) Append(errors_, std::move(first));
        }
        return;
      }
      case RuleKind::kNot:
        if (!rule.types().empty() && fails(*rule.types()[0]).empty()) {
          refuse("not validate the schema (not)");
        }
        return;
      default:
        return;
    }
  }

  void Simple(const Rule& rule, const Value& value, const Path& path) {
    if (value.is_number()) Number(rule, value, path);
    if (value.is_string()) Text(rule, value, path);
    if (value.is_list() || value.is_object()) Count(rule, value, path);
    if (rule.kind == RuleKind::kEnum) Enum(rule, value, path);
  }

  void Number(const Rule& rule, const Value& value, const Path& path) {
    double number = value.AsDouble();
    std::string_view what;
    switch (rule.kind) {
      case RuleKind::kMinimum:
        if (number < rule.number) what = "should be greater than or equal to";
        break;
      case RuleKind::kExclusiveMinimum:
        if (number <= rule.number) what = "should be greater than";
        break;
      case RuleKind::kMaximum:
        if (number > rule.number) what = "should be less than or equal to";
        break;
      case RuleKind::kExclusiveMaximum:
        if (number >= rule.number) what = "should be less than";
        break;
      case RuleKind::kMultipleOf: {
        double times = number / rule.number;
        if (times != std::trunc(times)) what = "should be a multiple of";
        break;
      }
      default:
        break;
    }
    if (what.empty()) return;
    Add(Invalid(path, value,
                InBody(path, fmt::format("{} {}", what, NumberText(rule.number, value.is_int())))));
  }

  void Text(const Rule& rule, const Value& value, const Path& path) {
    std::string_view text = value.AsString();
    switch (rule.kind) {
      case RuleKind::kMaxLength:
        if (CountCharacters(text) > static_cast<size_t>(rule.count)) {
          Add(TooLong(path, rule.count));
        }
        return;
      case RuleKind::kMaxBytes:
        if (text.size() > static_cast<size_t>(rule.count)) Add(TooLong(path, rule.count));
        return;
      case RuleKind::kMinLength:
        if (CountCharacters(text) < static_cast<size_t>(rule.count)) {
          Add(Invalid(path, text,
                      InBody(path, fmt::format("should be at least {} chars long", rule.count))));
        }
        return;
      case RuleKind::kPattern: {
        const RE2& pattern = Compiled(rule.text());
        if (!pattern.ok() ||
            !RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern)) {
          Add(Invalid(path, text, InBody(path, fmt::format("should match '{}'", rule.text()))));
        }
        return;
      }
      case RuleKind::kFormat:
        if (!FitsFormat(rule.text(), text)) {
          Add(TypeInvalid(
              path, text,
              InBody(path, fmt::format("must be of type {}: \"{}\"", rule.text(), text))));
        }
        return;
      default:
        return;
    }
  }

  void Count(const Rule& rule, const Value& value, const Path& path) {
    auto size = static_cast<int64_t>(value.size());
    switch (rule.kind) {
      case RuleKind::kMaxItems:
        if (value.is_list() && size > rule.count) Add(TooMany(path, size, rule.count));
        return;
      case RuleKind::kMinItems:
        if (value.is_list() && size < rule.count) {
          Add(Invalid(path, size,
                      InBody(path, fmt::format("should have at least {} items", rule.count))));
        }
        return;
      case RuleKind::kMaxProperties:
        if (value.is_object() && size > rule.count) Add(TooMany(path, size, rule.count));
        return;
      case RuleKind::kMinProperties:
        if (value.is_object() && size < rule.count) {
          Add(Invalid(path, size,
                      InBody(path, fmt::format("should have at least {} properties", rule.count))));
        }
        return;
      case RuleKind::kUniqueItems: {
        auto items = value.items();
        for (size_t i = 1; i < items.size(); ++i) {
          for (size_t j = 0; j < i; ++j) {
            if (!(items[i] == items[j])) continue;
            Add(Invalid(path, "", InBody(path, "shouldn't contain duplicates")));
            return;
          }
        }
        return;
      }
      default:
        return;
    }
  }

  void Enum(const Rule& rule, const Value& value, const Path& path) {
    std::vector<std::string> texts;
    for (const Value& allowed : rule.values()) {
      if (allowed == value ||
          (allowed.is_number() && value.is_number() && allowed.AsDouble() == value.AsDouble())) {
        return;
      }
      texts.push_back(allowed.is_string() ? std::string(allowed.AsString())
                                          : value::ToJson(allowed));
    }
    std::vector<std::string_view> views(texts.begin(), texts.end());
    Add(NotSupported(path, value, views));
  }

  FieldErrors errors_;
};

// What two items of a list must not share: the value itself, or its keys as an object.
std::string IdentityOf(const Type& list, const Value& item) {
  if (list.list_type == ListType::kSet) return value::ToJson(item);
  std::string identity = "{";
  for (std::string_view key : list.keys()) {
    const Value* value = item.Find(key);
    if (!value) continue;
    if (identity.size() > 1) identity += ',';
    value::AppendJson(identity, Value::String(key));
    identity += ':';
    value::AppendJson(identity, *value);
  }
  return identity + '}';
}

void CheckListTypes(const Type& type, const Value& value, const Path& path, FieldErrors& errors) {
  if (value.is_object()) {
    for (const Member& member : value.members()) {
      if (type.kind == TypeKind::kMap && type.element) {
        Path inner = path.Key(member.key());
        CheckListTypes(*type.element, member.value, inner, errors);
      } else if (const Field* field = type.Find(*member.name)) {
        Path inner = path.Child(member.key());
        CheckListTypes(*field->type, member.value, inner, errors);
      }
    }
    return;
  }
  if (!value.is_list() || type.kind != TypeKind::kList) return;
  auto items = value.items();
  if (type.list_type == ListType::kMap) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].is_object() || items[i].is_null()) continue;
      errors.push_back(
          Invalid(path.Index(i), items[i], "must be an object for an array of list-type map"));
      return;
    }
  }
  if (type.list_type == ListType::kSet || type.list_type == ListType::kMap) {
    std::unordered_map<std::string, int> seen;
    for (size_t i = 0; i < items.size(); ++i) {
      std::string identity = IdentityOf(type, items[i]);
      // Only the second one of a kind is named.
      if (seen[identity]++ != 1) continue;
      errors.push_back(type.list_type == ListType::kSet
                           ? Duplicate(path.Index(i), items[i])
                           : Duplicate(path.Index(i), BadValue::Json(identity)));
    }
  }
  for (size_t i = 0; type.element && i < items.size(); ++i) {
    Path inner = path.Index(i);
    CheckListTypes(*type.element, items[i], inner, errors);
  }
}

}  // namespace

FieldErrors ValidateStructure(const Type& type, const Value& object, const Value* old) {
  if (!type.Has(Type::kHasRules) && type.kind != TypeKind::kStruct) return {};
  return Validator().Run(type, object, old);
}

bool HasCelRules(const Type& type) {
  if (!type.Has(Type::kHasRules)) return false;
  if (type.FindRule(RuleKind::kCel) != nullptr) return true;
  if (type.element != nullptr && HasCelRules(*type.element)) return true;
  return std::ranges::any_of(type.fields(),
                             [](const Field& field) { return HasCelRules(*field.type); });
}

FieldErrors ValidateListTypes(const Type& type, const Value& object) {
  FieldErrors errors;
  CheckListTypes(type, object, Path(), errors);
  return errors;
}

}  // namespace keelson::schema
