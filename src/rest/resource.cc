#include "rest/resource.h"

#include <algorithm>
#include <utility>

#include "rest/decode_body.h"
#include "rest/render.h"
#include "rest/write.h"
#include "value/json.h"

namespace keelson::rest {
namespace {

using patch::FieldFilter;

// A dotted path as a set of one.
schema::FieldSet PathSet(value::Arena& arena, std::string_view path) {
  std::vector<schema::PathElement> elements;
  while (!path.empty()) {
    const auto dot = std::min(path.find('.'), path.size());
    elements.push_back(schema::PathElement::Field(arena.CopyString(path.substr(0, dot))));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return schema::SinglePath(arena, elements);
}

// What the endpoint takes from nobody.
std::vector<std::string_view> ResetPaths(const ResourceSpec& spec) {
  const auto given = spec.strategy->ResetFields();
  std::vector<std::string_view> paths(given.begin(), given.end());
  const bool has_status = std::ranges::any_of(
      spec.info->subresources, [](const auto& entry) { return entry.name == "status"; });
  if (spec.subresource == nullptr && has_status) paths.push_back("status");
  return paths;
}

// A computed object as selectors see it.
struct ComputedLabels {
  const value::Value& object;
  std::optional<std::string_view> Find(std::string_view key) const {
    const auto* label = object["metadata"]["labels"].Find(key);
    return label == nullptr ? std::nullopt : std::optional(label->AsString());
  }
};
struct ComputedFields {
  const value::Value& object;
  std::string_view Find(std::string_view field) const {
    return field == "metadata.name" ? object["metadata"]["name"].AsString() : std::string_view();
  }
};

}  // namespace

const schema::Type& ResourceSpec::type() const {
  if (projection != nullptr) return projection->type();
  return subresource != nullptr && subresource->type != nullptr ? *subresource->type : *info->type;
}

schema::GroupVersionKind ResourceSpec::kind() const {
  if (projection != nullptr) return projection->kind();
  if (subresource != nullptr && !subresource->body.kind.empty()) return subresource->body;
  return {info->group, info->version, info->kind};
}

std::shared_ptr<const patch::Ownership> MakeOwnership(const ResourceSpec& spec) {
  // The filters' sets live as long as the Ownership.
  struct Owned {
    value::ArenaRef arena = value::Arena::Make(512);
    std::optional<patch::Ownership> ownership;
  };
  auto owned = std::make_shared<Owned>();
  patch::OwnershipOptions options{
      .type = &spec.type(),
      .kind = spec.kind(),
      .subresource = std::string(spec.subresource != nullptr ? spec.subresource->name : "")};
  schema::FieldSet reset;
  for (auto path : ResetPaths(spec)) {
    reset = schema::Union(*owned->arena, reset, PathSet(*owned->arena, path));
  }
  if (!reset.empty()) {
    const auto kind = spec.kind();
    options.filters.emplace(ApiVersionText(kind.group, kind.version), FieldFilter::Exclude(reset));
  }
  if (spec.projection != nullptr) options.converter = spec.projection->versions();
  owned->ownership.emplace(std::move(options));
  return std::shared_ptr<const patch::Ownership>(owned, &*owned->ownership);
}

ResourceSpec Completed(ResourceSpec spec) {
  if (spec.ownership == nullptr) spec.ownership = MakeOwnership(spec);
  return spec;
}

Task<void> ResourceHandler::GetComputed(Request request, OutputMedia media) const {
  auto objects = co_await spec_.computed->List();
  if (!objects) co_return Refuse(request, objects.error());
  for (const auto& object : *objects) {
    if (object.root()["metadata"]["name"].AsString() != request.name) continue;
    co_return SendShown(request, 200, media, value::ToJsonSlice(object.root()));
  }
  Refuse(request, spec_.computed->NotFound(request.name));
}

Task<void> ResourceHandler::ListComputed(Request request, OutputMedia media,
                                         ListOptions options) const {
  auto selected = StorageOptions(request, options);
  if (!selected) co_return Refuse(request, selected.error());
  auto objects = co_await spec_.computed->List();
  if (!objects) co_return Refuse(request, objects.error());
  auto shape = ShapeOf(request, media, /*stored=*/false);
  if (!shape) co_return Refuse(request, shape.error());
  Body body;
  shape->AppendListOpening({}, body);
  for (const auto& object : *objects) {
    if (!selected->labels.Matches(ComputedLabels{object.root()}) ||
        !selected->fields.Matches(ComputedFields{object.root()})) {
      continue;
    }
    auto made = shape->AppendItem(value::ToJsonSlice(object.root()), body);
    if (!made) co_return Refuse(request, made.error());
  }
  shape->AppendListEnd(body);
  auto rendered = Render(TypeOf(media, /*list=*/true), body.Take(), media);
  if (!rendered) co_return Refuse(request, rendered.error());
  request.response.headers().AddView("content-type", ContentTypeOf(media.format, false));
  request.response.Send(200, *std::move(rendered));
}

}  // namespace keelson::rest
