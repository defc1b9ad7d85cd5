#include "server/api_endpoint.h"

#include <algorithm>
#include <utility>

#include "server/reply.h"
#include "server/resource_route.h"

namespace keelson::server {
namespace {

using rest::ResourceHandler;

Status MethodNotAllowedStatus() {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource",
          .details = StatusDetails{}};
}

// Whether any verb is routed at this place: across namespaces only lists and watches are.
bool HasPath(const rest::ResourceSpec& spec, const RequestInfo& request) {
  if (spec.info->scope == schema::Scope::kCluster || !request.ns.empty()) return true;
  return !request.name.empty() || (spec.verbs() & (schema::kVerbList | schema::kVerbWatch)) != 0;
}

bool IsLegacy(std::string_view path) { return path == "/api" || path.starts_with("/api/"); }

}  // namespace

ApiEndpoint::ApiEndpoint(const schema::Catalog& catalog, std::vector<rest::DiscoveryGroup> groups,
                         const std::vector<const ResourceHandler*>& handlers)
    : groups_(std::move(groups)) {
  for (const auto* handler : handlers) {
    const auto& spec = handler->spec();
    const Key key{.resource = spec.info->plural,
                  .subresource = spec.subresource != nullptr ? spec.subresource->name : "",
                  .group = spec.info->group,
                  .version = spec.info->version};
    auto& entry = handlers_[key];
    entry.handler = handler;
    for (auto verb : VerbLabelsOf(spec)) {
      entry.routes.push_back(verb.empty()
                                 ? nullptr
                                 : &routes_.emplace_back(RouteLabels{.verb = verb,
                                                                     .group = key.group,
                                                                     .version = key.version,
                                                                     .resource = key.resource,
                                                                     .subresource = key.subresource,
                                                                     .component = "apiserver"}));
    }
  }
  RenderDocuments(catalog);
}

void ApiEndpoint::RenderDocuments(const schema::Catalog& catalog) {
  const auto* meta = catalog.Find("meta.k8s.io", "v1");
  const auto* list_type = meta->FindType("APIResourceList");
  versions_type_ = meta->FindType("APIVersions");
  std::vector<rest::DiscoveryGroup> legacy;
  for (const auto& group : groups_) {
    if (group.name.empty()) legacy.push_back(group);
    const std::string root = group.name.empty() ? "/api" : "/apis/" + group.name;
    if (!group.name.empty()) {
      documents_[root] = {rest::RenderApiGroup(group), meta->FindType("APIGroup")};
    }
    for (const auto& version : group.versions) {
      documents_[root + "/" + version.version] = {rest::RenderApiResourceList(group.name, version),
                                                  list_type};
    }
  }
  auto aggregated = rest::RenderAggregated(legacy);
  aggregated_legacy_.body = Slice::Own(std::move(aggregated.body));
  aggregated_legacy_.etag = std::move(aggregated.etag);
  if (const auto* version = catalog.Find("apidiscovery.k8s.io", "v2")) {
    aggregated_legacy_.type = version->FindType("APIGroupDiscoveryList");
  }
}

std::vector<std::string> ApiEndpoint::roots() const {
  std::vector<std::string> roots{"/api"};
  for (const auto& group : groups_) {
    if (!group.name.empty()) roots.push_back("/apis/" + group.name);
  }
  return roots;
}

Pending ApiEndpoint::Serve(RequestContext& context) {
  if (context.info.is_resource_request) return ServeResource(context);
  ServeDiscovery(context);
  return std::nullopt;
}

Pending ApiEndpoint::ServeResource(RequestContext& context) const {
  const auto& info = context.info;
  const auto found = handlers_.find({.resource = info.resource,
                                     .subresource = info.subresource,
                                     .group = info.api_group,
                                     .version = info.api_version});
  if (found == handlers_.end()) {
    SendNotFoundStatus(context);
    return std::nullopt;
  }
  const auto& [handler, routes] = found->second;
  const auto& spec = handler->spec();
  const bool takes_path = spec.subresource != nullptr && spec.subresource->takes_path;
  if ((!PathBehind(info).empty() && !takes_path) || !HasPath(spec, info)) {
    SendNotFoundStatus(context);
    return std::nullopt;
  }
  auto route = FindRoute(context, *handler);
  if (!route) {
    SendStatus(context, MethodNotAllowedStatus());
    return std::nullopt;
  }
  context.route = routes[route->verb_index];
  return ServeRoute(context, *std::move(route));
}

void ApiEndpoint::ServeDiscovery(RequestContext& context) const {
  auto path = context.path;
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  // Group documents answer any method; the rest is routed.
  const bool routed = path == "/api" || std::ranges::count(path, '/') > (IsLegacy(path) ? 1 : 2);
  if (routed && context.request.method != "GET") {
    return SendStatus(context, MethodNotAllowedStatus());
  }
  if (path == "/api") {
    if (WantsAggregated(context)) return SendAggregated(context, aggregated_legacy_);
    const auto legacy = std::ranges::find(groups_, "", &rest::DiscoveryGroup::name);
    if (legacy == groups_.end()) return SendNotFoundStatus(context);
    return SendDiscovery(context, *versions_type_,
                         rest::RenderApiVersions(*legacy, context.request.host));
  }
  const auto found = documents_.find(path);
  if (found == documents_.end()) return SendNotFoundStatus(context);
  SendDiscovery(context, *found->second.type, found->second.body);
}

}  // namespace keelson::server
