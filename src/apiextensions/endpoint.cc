#include "apiextensions/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "apiextensions/published_schema.h"
#include "base/log.h"
#include "base/quote.h"
#include "server/reply.h"
#include "server/resource_route.h"
#include "value/json.h"

namespace keelson::apiextensions {
namespace {

using server::Pending;
using server::RequestContext;

GroupResource ResourceOf(const CustomKind& kind) {
  return {std::string(kind.group()), std::string(kind.plural())};
}

Status MethodNotSupported(const CustomKind& kind, std::string_view verb) {
  const auto resource = ResourceOf(kind);
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = fmt::format("{} is not supported on resources of kind {}", verb,
                                 Quote(resource.ToString())),
          .details = StatusDetails{.group = resource.group, .kind = resource.resource}};
}

// The requests that may leave out the namespace of a namespaced kind.
bool MayCrossNamespaces(std::string_view verb) { return verb == "list" || verb == "watch"; }

}  // namespace

CustomResourceEndpoint::CustomResourceEndpoint(const schema::Catalog& catalog,
                                               std::shared_ptr<const Routes> routes,
                                               std::shared_ptr<server::Endpoint> otherwise)
    : routes_(std::move(routes)), otherwise_(std::move(otherwise)) {
  const auto* meta = catalog.Find("meta.k8s.io", "v1");
  group_type_ = meta->FindType("APIGroup");
  version_type_ = meta->FindType("APIResourceList");
}

Pending CustomResourceEndpoint::Serve(RequestContext& context) {
  const auto& info = context.info;
  if (!info.is_resource_request) return ServeDiscovery(context);
  const auto table = routes_->table();
  const auto* kind = table->Find(info.api_group, info.resource);
  if (kind == nullptr) return otherwise_->Serve(context);
  const bool misplaced =
      (*kind)->namespaced() ? info.ns.empty() && !MayCrossNamespaces(info.verb) : !info.ns.empty();
  if (misplaced || (*kind)->FindVersion(info.api_version) == nullptr) {
    return otherwise_->Serve(context);
  }
  return ServeKind(context, *kind);
}

Pending CustomResourceEndpoint::ServeKind(RequestContext& context,
                                          const CustomKindRef& kind) const {
  const auto& info = context.info;
  auto handler = kind->Find(info.api_version, info.subresource);
  if (!handler) {
    log::ErrorS("A custom resource cannot be served",
                {{"resource", ResourceOf(*kind).ToString()}, {"err", handler.error().message}});
    SendStatus(context, InternalErrorStatus("error resolving resource"));
  } else if (*handler == nullptr || !server::PathBehind(info).empty()) {
    SendStatus(context, NotFoundStatus(ResourceOf(*kind), info.name));
  } else if (auto route = server::FindRoute(context, **handler, kind)) {
    return server::ServeRoute(context, *std::move(route));
  } else {
    SendStatus(context, MethodNotSupported(*kind, info.verb));
  }
  return std::nullopt;
}

// /apis/<group> and /apis/<group>/<version>
Pending CustomResourceEndpoint::ServeDiscovery(RequestContext& context) {
  constexpr std::string_view kRoot = "/apis/";
  auto path = context.path;
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.starts_with(kRoot)) return otherwise_->Serve(context);
  path.remove_prefix(kRoot.size());
  const auto slash = std::min(path.find('/'), path.size());
  const auto table = routes_->table();
  const auto groups = table->Groups(path.substr(0, slash));
  if (groups.empty() || path.empty()) return otherwise_->Serve(context);
  if (slash == path.size()) {
    SendDiscovery(context, *group_type_, rest::RenderApiGroup(groups[0]));
    return std::nullopt;
  }
  const auto& versions = groups[0].versions;
  const auto found =
      std::ranges::find(versions, path.substr(slash + 1), &rest::DiscoveryVersion::version);
  if (found == versions.end()) return otherwise_->Serve(context);
  SendDiscovery(context, *version_type_, rest::RenderApiResourceList(groups[0].name, *found));
  return std::nullopt;
}

server::DiscoverySource::Groups CustomGroups::Current() const {
  auto table = routes_->table();
  auto groups = table->Groups();
  return {std::move(groups), std::move(table)};
}

server::OpenApiSupplement::Resources CustomSchemas::Current() const {
  auto table = routes_->table();
  Resources resources;
  for (const auto& kind : table->kinds()) {
    if (!kind->established()) continue;
    const auto definition = value::ParseJson(kind->definition().json_view());
    if (!definition) continue;
    const value::Value versions = definition->root()["spec"]["versions"];
    for (const auto& info : kind->versions()) {
      for (const auto& version : versions.items()) {
        if (version["name"].AsString() != info.version) continue;
        resources.resources.push_back(PublishedResource(info, version));
      }
    }
  }
  resources.owner = std::move(table);
  return resources;
}

}  // namespace keelson::apiextensions
