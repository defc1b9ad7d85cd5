#include "schema/crd.h"

#include <algorithm>
#include <vector>

#include "value/document.h"

namespace keelson::schema {

namespace {

using value::Value;

// Plain scalars carry no facts of their own and are shared by all custom resources.
constexpr Type kPlain[] = {
    {.kind = TypeKind::kString}, {.kind = TypeKind::kInt64},       {.kind = TypeKind::kDouble},
    {.kind = TypeKind::kBool},   {.kind = TypeKind::kIntOrString},
};
constexpr Type kAnything{.kind = TypeKind::kAny, .flags = Type::kPreserveUnknown};

constexpr uint16_t kReachable = Type::kHasDefaults | Type::kHasRules;

std::unexpected<Error> Bad(std::string_view path, std::string_view what) {
  return Fail(ErrorCode::kInvalid, "{}: {}", path.empty() ? "schema" : path, what);
}

// A trivially destructible copy of a vector, owned by the arena.
template <typename T>
const T* Keep(value::Arena& arena, const std::vector<T>& from) {
  if (from.empty()) return nullptr;
  T* copy = arena.AllocateArray<T>(from.size());
  std::uninitialized_copy(from.begin(), from.end(), copy);
  return copy;
}

class Builder {
 public:
  explicit Builder(const CrdOptions& options)
      : options_(options), arena_(value::Arena::Make(4096)) {}

  Result<CrdType> Run(const Value& schema) {
    TRY(const Type* type, Node(schema, "", 0, true));
    return CrdType{type, std::move(arena_)};
  }

 private:
  struct Named {
    std::string_view name;
    const Value* schema = nullptr;  // null: only required, or part of every object
    const Type* type = nullptr;     // given
  };

  // The type of one schema node. `object` says that it is a whole API object.
  Result<const Type*> Node(const Value& schema, const std::string& path, size_t depth,
                           bool object = false) {
    if (depth > kMaxCrdDepth)
      return Fail(ErrorCode::kTooLarge, "{}: nested deeper than {}", path, kMaxCrdDepth);
    if (!schema.is_object()) return Bad(path, "not a schema");
    Type type;
    TRY_VOID(Kind(schema, path, type));
    if (schema["nullable"].AsBool()) type.flags |= Type::kNullable;
    if (schema["x-kubernetes-preserve-unknown-fields"].AsBool())
      type.flags |= Type::kPreserveUnknown;
    if (schema["x-kubernetes-map-type"].AsString() == "atomic") type.flags |= Type::kAtomic;
    const bool embedded = schema["x-kubernetes-embedded-resource"].AsBool();
    if (embedded) type.flags |= Type::kEmbeddedResource;
    TRY_VOID(Rules(schema, path, depth, type));
    if (type.kind == TypeKind::kStruct) {
      TRY_VOID(Fields(schema, path, depth, object || embedded, type));
    } else if (type.kind == TypeKind::kList) {
      TRY_VOID(List(schema, path, depth, type));
    } else if (type.kind == TypeKind::kMap) {
      const Value inner = schema["additionalProperties"];
      if (inner.is_object()) {
        TRY_VOID(Element(inner, path + "[*]", depth, type));
      } else {
        type.element = &kAnything;
      }
    }
    return Publish(type);
  }

  Result<void> Kind(const Value& schema, const std::string& path, Type& type) {
    const std::string_view name = schema["type"].AsString();
    if (schema["x-kubernetes-int-or-string"].AsBool()) {
      type.kind = TypeKind::kIntOrString;
    } else if (name == "object") {
      const Value* rest = schema.Find("additionalProperties");
      const bool map = rest && (rest->is_object() || rest->AsBool());
      type.kind = map && !schema.Find("properties") ? TypeKind::kMap : TypeKind::kStruct;
    } else if (name == "array") {
      type.kind = TypeKind::kList;
    } else if (name == "string") {
      type.kind = TypeKind::kString;
    } else if (name == "integer") {
      type.kind = TypeKind::kInt64;
    } else if (name == "number") {
      type.kind = TypeKind::kDouble;
    } else if (name == "boolean") {
      type.kind = TypeKind::kBool;
    } else if (name.empty() && schema["x-kubernetes-preserve-unknown-fields"].AsBool()) {
      type.kind = TypeKind::kAny;
    } else {
      return Bad(path, name.empty() ? "type is missing" : "unknown type");
    }
    return {};
  }

  // Without facts of its own a scalar needs no copy.
  const Type* Publish(const Type& type) {
    if (type.flags == 0 && type.rule_count == 0)
      for (const Type& plain : kPlain)
        if (plain.kind == type.kind) return &plain;
    Type* copy = arena_->AllocateArray<Type>(1);
    return std::construct_at(copy, type);
  }

  Result<void> Element(const Value& schema, const std::string& path, size_t depth, Type& type) {
    TRY(type.element, Node(schema, path, depth + 1));
    type.flags |= type.element->flags & kReachable;
    if (const Value* fallback = schema.Find("default")) {
      type.element_default = Copy(*fallback);
      type.flags |= Type::kHasDefaults;
    }
    return {};
  }

  Result<void> List(const Value& schema, const std::string& path, size_t depth, Type& type) {
    const std::string_view name = schema["x-kubernetes-list-type"].AsString();
    type.list_type = name == "set"      ? ListType::kSet
                     : name == "map"    ? ListType::kMap
                     : name == "atomic" ? ListType::kAtomic
                                        : ListType::kUnset;
    std::vector<std::string_view> keys;
    for (const Value& key : schema["x-kubernetes-list-map-keys"].items())
      keys.push_back(arena_->CopyString(key.AsString()));
    type.keys_data = Keep(*arena_, keys);
    type.key_count = static_cast<uint16_t>(keys.size());
    if (!schema.Find("items")) return Bad(path, "items is missing");
    return Element(schema["items"], path + "[*]", depth, type);
  }

  Result<void> Fields(const Value& schema, const std::string& path, size_t depth, bool object,
                      Type& type) {
    std::vector<Named> named;
    const Value properties = schema["properties"];
    for (const value::Member& member : properties.members()) {
      const bool own = object && (member.key() == "apiVersion" || member.key() == "kind" ||
                                  member.key() == "metadata");
      if (!own) named.push_back({member.key(), &member.value, nullptr});
    }
    if (object) {
      type.flags |= Type::kHasTypeMeta;
      named.push_back({"apiVersion", nullptr, &kPlain[0]});
      named.push_back({"kind", nullptr, &kPlain[0]});
      named.push_back(
          {"metadata", nullptr, options_.object_meta ? options_.object_meta : &kAnything});
    }
    const auto required = schema["required"].items();
    for (const Value& name : required)
      if (std::ranges::find(named, name.AsString(), &Named::name) == named.end())
        named.push_back({name.AsString(), nullptr, &kAnything});
    if (named.size() > kMaxCrdProperties)
      return Fail(ErrorCode::kTooLarge, "{}: more than {} properties", path, kMaxCrdProperties);
    std::ranges::sort(named, {}, &Named::name);

    std::vector<Field> fields;
    fields.reserve(named.size());
    for (const Named& one : named) {
      Field field;
      field.name = value::InternName(*arena_, one.name);
      field.flags = Field::kPointer | Field::kOmitEmpty;
      field.type = one.type;
      if (one.schema) {
        const std::string inner =
            path.empty() ? std::string(one.name) : fmt::format("{}.{}", path, one.name);
        TRY(field.type, Node(*one.schema, inner, depth + 1));
        if (const Value* fallback = one.schema->Find("default")) Default(*fallback, field, type);
      }
      for (const Value& name : required)
        if (name.AsString() == one.name) field.flags |= Field::kRequired;
      if (field.required()) type.flags |= Type::kHasRules;
      type.flags |= field.type->flags & kReachable;
      fields.push_back(field);
    }
    type.fields_data = Keep(*arena_, fields);
    type.field_count = static_cast<uint16_t>(fields.size());
    const size_t count = SlotCount(fields.size());
    uint32_t* slots = arena_->AllocateArray<uint32_t>(count);
    FillSlots(fields, {slots, count});
    type.slots = slots;
    type.slot_mask = static_cast<uint16_t>(count - 1);
    return {};
  }

  void Default(const Value& fallback, Field& field, Type& type) {
    auto* extra = std::construct_at(arena_->AllocateArray<FieldExtra>(1));
    extra->default_value = Copy(fallback);
    field.extra = extra;
    field.flags |= Field::kDefault;
    type.flags |= Type::kHasDefaults;
  }

  Result<void> Rules(const Value& schema, const std::string& path, size_t depth, Type& type);
  Result<void> Junctions(const Value& schema, const std::string& path, size_t depth,
                         std::vector<Rule>& rules);
  Result<const Type*> Constraint(const Value& schema, const std::string& path, size_t depth);
  void Cel(const Value& rules, std::vector<Rule>& out);

  Value Clone(const Value& from) {
    switch (from.kind()) {
      case value::Kind::kString:
        return Value::String(arena_->CopyString(from.AsString()), from.plain());
      case value::Kind::kList: {
        std::vector<Value> items;
        for (const Value& item : from.items()) items.push_back(Clone(item));
        return Value::List({Keep(*arena_, items), items.size()});
      }
      case value::Kind::kObject: {
        std::vector<value::Member> members;
        for (const value::Member& member : from.members())
          members.emplace_back(value::InternName(*arena_, member.key()), Clone(member.value));
        return Value::Object({Keep(*arena_, members), members.size()});
      }
      default:
        return from.Shared();
    }
  }
  const Value* Copy(const Value& from) {
    return std::construct_at(arena_->AllocateArray<Value>(1), Clone(from));
  }
  void TextRule(RuleKind kind, std::string_view text, std::vector<Rule>& rules) {
    const std::string_view kept = arena_->CopyString(text);
    Rule rule{.kind = kind, .size = static_cast<uint32_t>(kept.size()), .text_data = kept.data()};
    rules.push_back(rule);
  }

  const CrdOptions& options_;
  value::ArenaRef arena_;
};

Result<void> Builder::Rules(const Value& schema, const std::string& path, size_t depth,
                            Type& type) {
  static constexpr std::pair<std::string_view, RuleKind> kCounts[] = {
      {"minLength", RuleKind::kMinLength},         {"maxLength", RuleKind::kMaxLength},
      {"minItems", RuleKind::kMinItems},           {"maxItems", RuleKind::kMaxItems},
      {"minProperties", RuleKind::kMinProperties}, {"maxProperties", RuleKind::kMaxProperties},
  };
  std::vector<Rule> rules;
  const auto number = [&](std::string_view name, RuleKind kind) {
    if (const Value* bound = schema.Find(name); bound && bound->is_number())
      rules.push_back({.kind = kind, .number = bound->AsDouble()});
  };
  number("minimum",
         schema["exclusiveMinimum"].AsBool() ? RuleKind::kExclusiveMinimum : RuleKind::kMinimum);
  number("maximum",
         schema["exclusiveMaximum"].AsBool() ? RuleKind::kExclusiveMaximum : RuleKind::kMaximum);
  number("multipleOf", RuleKind::kMultipleOf);
  for (const auto& [name, kind] : kCounts)
    if (const Value* bound = schema.Find(name); bound && bound->is_number())
      rules.push_back({.kind = kind, .count = static_cast<int64_t>(bound->AsDouble())});
  if (schema["uniqueItems"].AsBool()) rules.push_back({.kind = RuleKind::kUniqueItems, .count = 1});
  if (!schema["pattern"].AsString().empty())
    TextRule(RuleKind::kPattern, schema["pattern"].AsString(), rules);
  if (!schema["format"].AsString().empty())
    TextRule(RuleKind::kFormat, schema["format"].AsString(), rules);
  if (const auto values = schema["enum"].items(); !values.empty()) {
    std::vector<Value> kept;
    for (const Value& one : values) kept.push_back(Clone(one));
    rules.push_back({.kind = RuleKind::kEnum,
                     .size = static_cast<uint32_t>(kept.size()),
                     .values_data = Keep(*arena_, kept)});
  }
  TRY_VOID(Junctions(schema, path, depth, rules));
  if (const Value cel = schema["x-kubernetes-validations"]; cel.size() > 0) Cel(cel, rules);
  if (rules.size() > UINT16_MAX) return Fail(ErrorCode::kTooLarge, "{}: too many rules", path);
  type.rules_data = Keep(*arena_, rules);
  type.rule_count = static_cast<uint16_t>(rules.size());
  if (!rules.empty()) type.flags |= Type::kHasRules;
  return {};
}

Result<void> Builder::Junctions(const Value& schema, const std::string& path, size_t depth,
                                std::vector<Rule>& rules) {
  // Most int-or-string nodes repeat what they are in anyOf; that adds nothing.
  const bool int_or_string = schema["x-kubernetes-int-or-string"].AsBool();
  static constexpr std::pair<std::string_view, RuleKind> kLists[] = {
      {"allOf", RuleKind::kAllOf}, {"anyOf", RuleKind::kAnyOf}, {"oneOf", RuleKind::kOneOf}};
  for (const auto& [name, kind] : kLists) {
    const auto parts = schema[name].items();
    if (parts.empty()) continue;
    std::vector<const Type*> types;
    bool says_nothing = int_or_string && kind == RuleKind::kAnyOf;
    for (const Value& part : parts) {
      says_nothing = says_nothing && part.size() == 1 && part.Find("type");
      TRY(const Type* type, Constraint(part, path, depth + 1));
      types.push_back(type);
    }
    if (says_nothing) continue;
    rules.push_back({.kind = kind,
                     .size = static_cast<uint32_t>(types.size()),
                     .types_data = Keep(*arena_, types)});
  }
  if (const Value* inner = schema.Find("not"); inner && inner->is_object()) {
    TRY(const Type* type, Constraint(*inner, path, depth + 1));
    rules.push_back(
        {.kind = RuleKind::kNot, .size = 1, .types_data = Keep(*arena_, std::vector{type})});
  }
  return {};
}

// A schema inside allOf, anyOf, oneOf or not: constrains, but neither types nor defaults.
Result<const Type*> Builder::Constraint(const Value& schema, const std::string& path,
                                        size_t depth) {
  if (depth > kMaxCrdDepth)
    return Fail(ErrorCode::kTooLarge, "{}: nested deeper than {}", path, kMaxCrdDepth);
  if (!schema.is_object()) return Bad(path, "not a schema");
  Type type{.kind = TypeKind::kUnspecified, .flags = Type::kPreserveUnknown};
  TRY_VOID(Rules(schema, path, depth, type));
  std::vector<Named> named;
  const Value properties = schema["properties"];
  for (const value::Member& member : properties.members())
    named.push_back({member.key(), &member.value, nullptr});
  const auto required = schema["required"].items();
  for (const Value& name : required)
    if (std::ranges::find(named, name.AsString(), &Named::name) == named.end())
      named.push_back({name.AsString(), nullptr, &kAnything});
  if (named.size() > kMaxCrdProperties)
    return Fail(ErrorCode::kTooLarge, "{}: more than {} properties", path, kMaxCrdProperties);
  std::ranges::sort(named, {}, &Named::name);
  std::vector<Field> fields;
  for (const Named& one : named) {
    Field field{.name = value::InternName(*arena_, one.name),
                .type = one.type,
                .flags = Field::kPointer | Field::kOmitEmpty};
    if (one.schema) {
      TRY(field.type, Constraint(*one.schema, path, depth + 1));
    }
    for (const Value& name : required)
      if (name.AsString() == one.name) field.flags |= Field::kRequired;
    fields.push_back(field);
  }
  if (!fields.empty()) {
    const size_t count = SlotCount(fields.size());
    uint32_t* slots = arena_->AllocateArray<uint32_t>(count);
    FillSlots(fields, {slots, count});
    type.fields_data = Keep(*arena_, fields);
    type.field_count = static_cast<uint16_t>(fields.size());
    type.slots = slots;
    type.slot_mask = static_cast<uint16_t>(count - 1);
  }
  const Value items = schema["items"];
  const Value rest = schema["additionalProperties"];
  if (items.is_object() || rest.is_object()) {
    TRY(type.element, Constraint(items.is_object() ? items : rest, path, depth + 1));
  }
  type.flags |= Type::kHasRules;
  return std::construct_at(arena_->AllocateArray<Type>(1), type);
}

void Builder::Cel(const Value& rules, std::vector<Rule>& out) {
  std::vector<CelRule> kept;
  for (const Value& one : rules.items()) {
    const auto text = [&](std::string_view name) {
      return arena_->CopyString(one[name].AsString());
    };
    CelRule rule{.rule = text("rule"),
                 .message = text("message"),
                 .message_expression = text("messageExpression"),
                 .reason = text("reason"),
                 .field_path = text("fieldPath")};
    if (const Value* optional = one.Find("optionalOldSelf"))
      rule.optional_old_self = optional->AsBool() ? 1 : 0;
    kept.push_back(rule);
  }
  out.push_back({.kind = RuleKind::kCel,
                 .size = static_cast<uint32_t>(kept.size()),
                 .cel_data = Keep(*arena_, kept)});
}

}  // namespace

Result<CrdType> BuildCrdType(const value::Value& schema, const CrdOptions& options) {
  return Builder(options).Run(schema);
}

}  // namespace keelson::schema
