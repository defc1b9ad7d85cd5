#include "rest/scale.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "rest/decode_body.h"
#include "schema/crd.h"
#include "schema/field_error.h"
#include "schema/transform.h"
#include "selector/label_selector.h"

namespace keelson::rest {
namespace {

using selector::LabelOperator;
using selector::LabelRequirement;
using value::Builder;
using value::Document;
using value::Value;

// What a Scale shows of the object's metadata.
constexpr std::string_view kShownMetadata[] = {"name", "namespace", "uid", "resourceVersion",
                                               "creationTimestamp"};

Value At(Value object, const std::vector<std::string>& path) {
  for (const auto& step : path) object = object[std::string_view(step)];
  return object;
}

void SetAt(value::Ref object, const std::vector<std::string>& path, Value value) {
  for (size_t i = 0; i + 1 < path.size(); ++i) object = object.Field(std::string_view(path[i]));
  object.SetField(std::string_view(path.back()), value);
}

LabelOperator OperatorOf(std::string_view name) {
  if (name == "In") return LabelOperator::kIn;
  if (name == "NotIn") return LabelOperator::kNotIn;
  return name == "Exists" ? LabelOperator::kExists : LabelOperator::kNotExists;
}

}  // namespace

std::string SelectorText(const Value& selector) {
  if (selector.is_string()) return std::string(selector.AsString());
  const bool structured =
      selector.Find("matchLabels") != nullptr || selector.Find("matchExpressions") != nullptr;
  const Value labels = structured ? selector["matchLabels"] : selector;
  std::vector<LabelRequirement> requirements;
  for (const auto& label : labels.members()) {
    requirements.push_back({.key = std::string(label.key()),
                            .op = LabelOperator::kEquals,
                            .values = {std::string(label.value.AsString())}});
  }
  for (const auto& expression : selector["matchExpressions"].items()) {
    LabelRequirement requirement{.key = std::string(expression["key"].AsString()),
                                 .op = OperatorOf(expression["operator"].AsString())};
    for (const auto& item : expression["values"].items()) {
      requirement.values.emplace_back(item.AsString());
    }
    std::ranges::sort(requirement.values);
    requirements.push_back(std::move(requirement));
  }
  return selector::LabelSelector(std::move(requirements)).ToString();
}

ScaleProjection::ScaleProjection(const schema::ResourceInfo& resource, const schema::Type& scale,
                                 ScalePaths paths)
    : resource_type_(*resource.type),
      scale_(scale),
      paths_(std::move(paths)),
      api_version_(ApiVersionText(resource.group, resource.version)),
      replicas_{{api_version_, paths_.spec_replicas}} {}

ApiResult<Document> ScaleProjection::Show(const Document& stored) const {
  const Value object = stored.root();
  if (schema::IsCustomObject(resource_type_) && !At(object, paths_.spec_replicas).is_int()) {
    return std::unexpected(InternalErrorStatus(fmt::format(
        "the spec replicas field \".{}\" does not exist", fmt::join(paths_.spec_replicas, "."))));
  }
  Builder scale;
  scale.Adopt(stored);
  auto root = scale.root();
  root.SetField("kind", Value::String("Scale", /*plain=*/true));
  root.SetField("apiVersion", Value::String("autoscaling/v1", /*plain=*/true));
  for (auto field : kShownMetadata) {
    root.Field("metadata").SetField(field, object["metadata"][field]);
  }
  root.Field("spec").SetField("replicas", Value::Int(At(object, paths_.spec_replicas).AsInt()));
  auto status = root.Field("status");
  status.SetField("replicas", Value::Int(At(object, paths_.status_replicas).AsInt()));
  if (!paths_.selector.empty()) {
    status.SetField("selector", scale.String(SelectorText(At(object, paths_.selector))));
  }
  Document shown = std::move(scale).Finish();
  schema::Normalize(scale_, shown);
  return shown;
}

ApiResult<Document> ScaleProjection::Live(const Document& stored) const {
  auto shown = Show(stored);
  if (!shown) return shown;
  Builder scale(*shown);
  auto owners = patch::ScaleManagedFields(scale.arena(), stored.root()["metadata"]["managedFields"],
                                          replicas_);
  if (!owners) return std::unexpected(InternalErrorStatus(owners.error().message));
  if (!owners->is_null()) scale.root().Field("metadata").SetField("managedFields", *owners);
  return std::move(scale).Finish();
}

ApiResult<Document> ScaleProjection::Put(const Document& shown, const Document* stored) const {
  const Value scale = shown.root();
  const Value metadata = stored->root()["metadata"];
  const auto replicas = scale["spec"]["replicas"].AsInt();
  if (replicas < 0 && !schema::IsCustomObject(resource_type_)) {
    return std::unexpected(
        schema::InvalidStatus("autoscaling", "Scale", metadata["name"].AsString(),
                              {schema::Invalid(value::Path("spec").Child("replicas"), replicas,
                                               "must be greater than or equal to 0")}));
  }
  Builder object(*stored);
  object.Adopt(shown);
  SetAt(object.root(), paths_.spec_replicas, Value::Int(replicas));
  auto changed = object.root().Field("metadata");
  const auto version = scale["metadata"]["resourceVersion"];
  if (!version.AsString().empty()) changed.SetField("resourceVersion", version);
  auto owners =
      patch::ResourceManagedFields(object.arena(), metadata["managedFields"],
                                   scale["metadata"]["managedFields"], api_version_, replicas_);
  if (!owners) return std::unexpected(InternalErrorStatus(owners.error().message));
  changed.SetField("managedFields", *owners);
  return std::move(object).Finish();
}

}  // namespace keelson::rest
