// How a compiled type becomes an OpenAPI schema.
//
// v3: a reference with anything beside it is wrapped, {"default":{},"allOf":[{"$ref":...}]};
// elements of lists and maps carry the default that a Go zero value gives them. v2: the reference
// stands beside the description, and there are no defaults at all.

#include <fmt/format.h>

#include <algorithm>

#include "schema/openapi_model.h"
#include "value/json.h"

namespace keelson::schema::openapi {

namespace {

bool IsReference(const Type& type) {
  switch (type.kind) {
    case TypeKind::kStruct:
    case TypeKind::kQuantity:
    case TypeKind::kIntOrString:
    case TypeKind::kTime:
    case TypeKind::kMicroTime:
    case TypeKind::kDuration:
    case TypeKind::kRawExtension:
    case TypeKind::kFieldsV1:
    case TypeKind::kJson:
    case TypeKind::kSchemaOrBool:
    case TypeKind::kSchemaOrArray:
    case TypeKind::kSchemaOrStrings:
      return type.info != nullptr;
    default:
      return false;
  }
}

std::string_view ZeroText(TypeKind kind) {
  switch (kind) {
    case TypeKind::kString:
      return "\"\"";
    case TypeKind::kInt32:
    case TypeKind::kInt64:
    case TypeKind::kDouble:
      return "0";
    case TypeKind::kBool:
      return "false";
    case TypeKind::kStruct:
      return "{}";
    default:
      return {};
  }
}

struct TypeAndFormat {
  std::string_view type;
  std::string_view format;
};

TypeAndFormat Plain(TypeKind kind) {
  switch (kind) {
    case TypeKind::kString:
      return {"string", ""};
    case TypeKind::kBytes:
      return {"string", "byte"};
    case TypeKind::kInt32:
      return {"integer", "int32"};
    case TypeKind::kInt64:
      return {"integer", "int64"};
    case TypeKind::kBool:
      return {"boolean", ""};
    case TypeKind::kDouble:
      return {"number", "double"};
    case TypeKind::kList:
      return {"array", ""};
    default:
      return {"object", ""};
  }
}

}  // namespace

Models::Models(const OpenApiSource& source, Version version, GroupVersionKind document)
    : source_(source), version_(version), document_(document) {
  for (const GroupVersionInfo& info : source.catalog->group_versions())
    for (const Type* type : info.types)
      if (!type->info->model.empty()) by_model_.emplace(type->info->model, type);
  for (const OpenApiResource& resource : source.resources) {
    if (resource.model.empty()) continue;
    custom_.emplace(resource.model, &resource);
    custom_.emplace(resource.model + "List", &resource);
  }
}

const OpenApiResource* Models::FindCustom(std::string_view model) const {
  const auto found = custom_.find(model);
  return found != custom_.end() ? found->second : nullptr;
}

void Models::Add(std::string_view model) {
  if (model.empty()) return;
  if (const auto found = by_model_.find(model); found != by_model_.end()) {
    AddType(*found->second);
    return;
  }
  if (!wanted_.emplace(model).second || !FindCustom(model)) return;
  for (std::string_view shared : {"ObjectMeta", "ListMeta"})
    Add(std::string(kMetaModel) + std::string(shared));
}

void Models::AddType(const Type& type) {
  if (type.info && !type.info->model.empty() && IsReference(type)) {
    if (!wanted_.emplace(type.info->model).second) return;
    if (type.kind != TypeKind::kStruct) return;
  }
  if (type.element) AddType(*type.element);
  if (type.kind == TypeKind::kStruct)
    for (const Field& field : type.fields()) AddType(*field.type);
}

void Models::Write(JsonText& out) const {
  out.Begin();
  for (const std::string& model : wanted_) {
    out.Key(model);
    WriteModel(out, model);
  }
  out.End();
}

void Models::WriteModel(JsonText& out, std::string_view model) const {
  if (const auto found = by_model_.find(model); found != by_model_.end()) {
    found->second->kind == TypeKind::kStruct ? WriteStruct(out, *found->second)
                                             : WriteScalar(out, *found->second);
    return;
  }
  if (const OpenApiResource* custom = FindCustom(model)) {
    if (model != custom->model) return WriteCustomList(out, *custom);
    out.Raw(version_ == Version::kV3 ? custom->schema_v3 : custom->schema_v2);
    return;
  }
  out.Begin().Field("type", "object").End();  // Patch: any of the four forms
}

void Models::WriteCustomList(JsonText& out, const OpenApiResource& resource) const {
  const ResourceInfo& info = *resource.info;
  const auto reference = [&](std::string_view model) {
    return fmt::format(
        "{}{}", version_ == Version::kV3 ? "#/components/schemas/" : "#/definitions/", model);
  };
  out.Begin();
  out.Field("description", fmt::format("{} is a list of {}", info.list_kind, info.kind));
  out.Field("type", "object").RawField("required", R"(["items"])");
  out.Key("properties").Begin();
  out.Key("apiVersion").Begin().Field("type", "string").End();
  out.Key("items").Begin().Field("type", "array");
  out.Key("items").Begin().Field("$ref", reference(resource.model)).End().End();
  out.Key("kind").Begin().Field("type", "string").End();
  out.Key("metadata").Begin().Field("$ref", reference(std::string(kMetaModel) + "ListMeta")).End();
  out.End();
  out.Key("x-kubernetes-group-version-kind").BeginList().Begin();
  out.Field("group", info.group).Field("kind", info.list_kind).Field("version", info.version);
  out.End().EndList().End();
}

void Models::WriteScalar(JsonText& out, const Type& type) const {
  out.Begin();
  if (!type.info->description.empty()) out.Field("description", type.info->description);
  const bool v3 = version_ == Version::kV3;
  switch (type.kind) {
    case TypeKind::kTime:
    case TypeKind::kMicroTime:
      out.Field("type", "string").Field("format", "date-time");
      break;
    case TypeKind::kDuration:
      out.Field("type", "string");
      break;
    case TypeKind::kQuantity:
      v3 ? out.RawField("oneOf", R"([{"type":"string"},{"type":"number"}])")
         : out.Field("type", "string");
      break;
    case TypeKind::kIntOrString:
      if (!v3) out.Field("type", "string");
      out.Field("format", "int-or-string");
      if (v3) out.RawField("oneOf", R"([{"type":"integer"},{"type":"string"}])");
      break;
    case TypeKind::kRawExtension:
    case TypeKind::kFieldsV1:
      out.Field("type", "object");
      break;
    default:
      break;  // any JSON
  }
  out.End();
}

void Models::WriteStruct(JsonText& out, const Type& type) const {
  std::map<std::string_view, const Field*> sorted;
  std::vector<std::string_view> required;
  for (const Field& field : type.fields()) {
    if (field.Has(Field::kNotInJson)) continue;
    sorted.emplace(field.text(), &field);
    if (field.required()) required.push_back(field.text());
  }
  out.Begin();
  if (!type.info->description.empty()) out.Field("description", type.info->description);
  out.Field("type", "object");
  if (!required.empty()) {
    out.Key("required").BeginList();
    for (std::string_view name : required) out.String(name);
    out.EndList();
  }
  if (!sorted.empty()) {
    out.Key("properties").Begin();
    for (const auto& [name, field] : sorted) {
      out.Key(name);
      WriteProperty(out, *field);
    }
    out.End();
  }
  WriteKinds(out, type);
  if (type.Has(Type::kAtomic)) out.Field("x-kubernetes-map-type", "atomic");
  WriteUnions(out, type);
  out.End();
}

void Models::WriteProperty(JsonText& out, const Field& field) const {
  const bool v3 = version_ == Version::kV3;
  const Type& type = *field.type;
  const std::string_view description = field.description();
  std::string default_json;
  if (v3 && field.Has(Field::kDefault)) {
    value::AppendJson(default_json, *field.extra->default_value);
  } else if (v3 && field.Has(Field::kZeroDefault)) {
    default_json = ZeroText(type.kind);
    if (default_json.empty()) default_json = "{}";
  }
  out.Begin();
  if (!description.empty()) out.Field("description", description);
  if (IsReference(type)) {
    if (!default_json.empty()) out.RawField("default", default_json);
    if (v3 && (!description.empty() || !default_json.empty() || field.Has(Field::kGranular) ||
               field.Has(Field::kAtomic))) {
      out.Key("allOf").BeginList().Begin();
      WriteReference(out, type);
      out.End().EndList();
    } else {
      WriteReference(out, type);
    }
  } else {
    const auto [name, format] = Plain(type.kind);
    out.Field("type", name);
    if (!format.empty()) out.Field("format", format);
    if (!default_json.empty()) out.RawField("default", default_json);
    WriteContent(out, type);
  }
  if (!type.keys().empty()) {
    out.Key("x-kubernetes-list-map-keys").BeginList();
    for (std::string_view key : type.keys()) out.String(key);
    out.EndList();
  }
  static constexpr std::string_view kListTypes[] = {"", "atomic", "set", "map"};
  if (type.list_type != ListType::kUnset)
    out.Field("x-kubernetes-list-type", kListTypes[static_cast<size_t>(type.list_type)]);
  if (field.Has(Field::kAtomic) || (type.kind == TypeKind::kMap && type.Has(Type::kAtomic)))
    out.Field("x-kubernetes-map-type", "atomic");
  if (field.Has(Field::kGranular)) out.Field("x-kubernetes-map-type", "granular");
  if (!field.merge_key().empty()) out.Field("x-kubernetes-patch-merge-key", field.merge_key());
  std::string strategy;
  if (field.Has(Field::kPatchMerge)) strategy = "merge";
  if (field.Has(Field::kPatchReplace)) strategy = "replace";
  if (field.Has(Field::kPatchRetainKeys))
    strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
  if (!strategy.empty()) out.Field("x-kubernetes-patch-strategy", strategy);
  out.End();
}

// Enum values, items, additionalProperties: what follows type, format and default.
void Models::WriteContent(JsonText& out, const Type& type) const {
  if (const Rule* rule = type.FindRule(RuleKind::kEnum)) {
    out.Key("enum").BeginList();
    for (const value::Value& one : rule->values()) out.String(one.AsString());
    out.EndList();
  }
  if (type.kind != TypeKind::kList && type.kind != TypeKind::kMap) return;
  const Type& inner = *type.element;
  const std::string_view zero = version_ == Version::kV3 ? ZeroText(inner.kind) : "";
  out.Key(type.kind == TypeKind::kList ? "items" : "additionalProperties").Begin();
  if (IsReference(inner)) {
    if (!zero.empty()) {
      out.RawField("default", zero).Key("allOf").BeginList().Begin();
      WriteReference(out, inner);
      out.End().EndList();
    } else {
      WriteReference(out, inner);
    }
  } else {
    const auto [name, format] = Plain(inner.kind);
    out.Field("type", name);
    if (!format.empty()) out.Field("format", format);
    if (!zero.empty()) out.RawField("default", zero);
    WriteContent(out, inner);
  }
  out.End();
}

void Models::WriteReference(JsonText& out, const Type& type) const {
  const std::string_view where =
      version_ == Version::kV3 ? "#/components/schemas/" : "#/definitions/";
  out.Field("$ref", std::string(where) + std::string(type.info->model));
}

// The group-versions a kind is registered in. Those registered everywhere name core/v1 and, in a v3
// document, the group-version it is for; the v2 document names all.
void Models::WriteKinds(JsonText& out, const Type& type) const {
  std::vector<std::pair<std::string_view, std::string_view>> places;
  const GroupVersionInfo* core = source_.catalog->Find("", "v1");
  const bool shared = !type.info->group.empty() && core && core->FindKind(type.name()) == &type;
  for (const GroupVersionInfo& info : source_.catalog->group_versions()) {
    if (info.version.empty() || info.FindKind(type.name()) != &type) continue;
    const bool own =
        !shared && info.group == type.info->group && info.version == type.info->version;
    const bool shown = own || info.group.empty() || version_ == Version::kV2 ||
                       (info.group == document_.group && info.version == document_.version);
    if (shown) places.emplace_back(info.group, info.version);
  }
  if (places.empty()) return;
  std::ranges::sort(places);
  out.Key("x-kubernetes-group-version-kind").BeginList();
  for (const auto& [group, version] : places) {
    out.Begin().Field("group", group).Field("kind", type.name()).Field("version", version).End();
  }
  out.EndList();
}

void Models::WriteUnions(JsonText& out, const Type& type) const {
  bool open = false;
  for (const UnionInfo& one : type.info->unions()) {
    if (!one.name.empty()) continue;
    if (!open) out.Key("x-kubernetes-unions").BeginList();
    open = true;
    out.Begin();
    if (!one.discriminator.empty()) out.Field("discriminator", one.discriminator);
    out.Key("fields-to-discriminateBy").Begin();
    std::set<std::string_view> members(one.members().begin(), one.members().end());
    for (std::string_view member : members)
      out.Field(member, type.Find(member)->extra->union_value);
    out.End().End();
  }
  if (open) out.EndList();
}

}  // namespace keelson::schema::openapi
