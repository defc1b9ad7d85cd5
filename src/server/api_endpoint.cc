#include "server/api_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <stop_token>
#include <utility>

#include "rest/render.h"
#include "server/reply.h"

namespace keelson::server {
namespace {

using rest::ResourceHandler;
using Verb = Task<void> (ResourceHandler::*)(rest::Request) const;

constexpr std::string_view kAggregatedType = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

// Where a verb is routed: at one object, at a collection, or at a collection of all namespaces too.
enum class Place : uint8_t { kObject, kCollection, kEverywhere };

struct VerbEntry {
  std::string_view name;
  std::string_view label;  // of upstream's route
  schema::Verb bit;
  Place place;
  Verb serve;
};

constexpr VerbEntry kVerbs[] = {
    {"get", "GET", schema::kVerbGet, Place::kObject, &ResourceHandler::Get},
    {"list", "LIST", schema::kVerbList, Place::kEverywhere, &ResourceHandler::List},
    {"watch", "LIST", schema::kVerbWatch, Place::kEverywhere, &ResourceHandler::List},
    {"create", "POST", schema::kVerbCreate, Place::kCollection, &ResourceHandler::Create},
    {"update", "PUT", schema::kVerbUpdate, Place::kObject, &ResourceHandler::Update},
    {"patch", "PATCH", schema::kVerbPatch, Place::kObject, &ResourceHandler::Patch},
    {"delete", "DELETE", schema::kVerbDelete, Place::kObject, &ResourceHandler::Delete},
    {"deletecollection", "DELETECOLLECTION", schema::kVerbDeleteCollection, Place::kCollection,
     &ResourceHandler::DeleteCollection},
};

const VerbEntry* FindVerb(std::string_view name) {
  auto found = std::ranges::find(kVerbs, name, &VerbEntry::name);
  return found == std::end(kVerbs) ? nullptr : found;
}

class ContextWarnings final : public rest::WarningSink {
 public:
  explicit ContextWarnings(RequestContext& context) : context_(context) {}
  void Warn(std::string_view text) override {
    context_.warnings.Add(context_.response.headers(), "", text);
  }

 private:
  RequestContext& context_;
};

// What follows a subresource's name: "healthz/x" of pods/a/proxy/healthz/x.
std::string_view PathBehind(const RequestInfo& info) {
  const auto head = info.resource.size() + 1 + info.name.size() + 1 + info.subresource.size() + 1;
  return info.subresource.empty() || info.parts.size() < head ? std::string_view()
                                                              : info.parts.substr(head);
}

// Ends early for whichever reason comes first: client gone, deadline, watches being drained.
Task<void> ServeVerb(RequestContext& context, const ResourceHandler* handler, Verb verb) {
  ContextWarnings warnings(context);
  if (!handler->spec().deprecation.empty()) warnings.Warn(handler->spec().deprecation);
  std::stop_source end;
  auto stop = [&end] { end.request_stop(); };
  std::stop_callback on_cancel(context.exchange.cancelled.get_token(), stop);
  std::stop_callback on_drain(
      context.watch_ticket ? context.watch_ticket.stop() : std::stop_token(), stop);
  const auto& info = context.info;
  // Below a namespace's own path, its name is also the request's namespace.
  const bool namespaced = handler->spec().info->scope == schema::Scope::kNamespaced;
  co_await (handler->*verb)({.exchange = context.exchange,
                             .response = context.response,
                             .query = context.query(),
                             .warnings = warnings,
                             .ns = namespaced ? info.ns : std::string_view(),
                             .name = info.name,
                             .subresource = info.subresource,
                             .path = PathBehind(info),
                             .watch = info.verb == "watch",
                             .user = context.user,
                             .stop = end.get_token()});
}

Status MethodNotAllowedStatus() {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource",
          .details = StatusDetails{}};
}

// Whether everything about the request is answered by the subresource's own code.
bool IsConnection(const rest::ResourceSpec& spec) {
  return spec.subresource != nullptr && ((spec.subresource->verbs & schema::kVerbConnect) != 0 ||
                                         spec.subresource->options != nullptr);
}

// Whether this verb is routed at this place.
bool IsRouted(const rest::ResourceSpec& spec, const RequestInfo& request, const VerbEntry* verb) {
  if (verb == nullptr || (spec.verbs() & verb->bit) == 0) return false;
  const bool in_namespace = spec.info->scope == schema::Scope::kCluster || !request.ns.empty();
  if (spec.subresource != nullptr) return in_namespace && !request.name.empty();
  if (verb->place == Place::kEverywhere) return true;
  return in_namespace && request.name.empty() == (verb->place == Place::kCollection);
}

// Whether any verb is routed at this place: across namespaces only lists and watches are.
bool HasPath(const rest::ResourceSpec& spec, const RequestInfo& request) {
  if (spec.info->scope == schema::Scope::kCluster || !request.ns.empty()) return true;
  return !request.name.empty() || (spec.verbs() & (schema::kVerbList | schema::kVerbWatch)) != 0;
}

bool IsLegacy(std::string_view path) { return path == "/api" || path.starts_with("/api/"); }

rest::OutputRequest OutputRequestOf(const RequestContext& context) {
  return {.accept = context.request.headers.Get("accept").value_or(""),
          .user_agent = context.request.headers.Get("user-agent").value_or(""),
          .raw_query = context.request.raw_query};
}

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
    for (const auto& verb : kVerbs) {
      const bool served = (spec.verbs() & verb.bit) != 0;
      entry.routes.push_back(served ? &routes_.emplace_back(RouteLabels{
                                          .verb = IsConnection(spec) ? "CONNECT" : verb.label,
                                          .group = key.group,
                                          .version = key.version,
                                          .resource = key.resource,
                                          .subresource = key.subresource,
                                          .component = "apiserver"})
                                    : nullptr);
    }
  }
  RenderDocuments(catalog);
}

void ApiEndpoint::RenderDocuments(const schema::Catalog& catalog) {
  const auto* meta = catalog.Find("meta.k8s.io", "v1");
  const auto* list_type = meta->FindType("APIResourceList");
  versions_type_ = meta->FindType("APIVersions");
  if (const auto* aggregated = catalog.Find("apidiscovery.k8s.io", "v2")) {
    aggregated_type_ = aggregated->FindType("APIGroupDiscoveryList");
  }
  std::vector<rest::DiscoveryGroup> legacy;
  std::vector<rest::DiscoveryGroup> named;
  for (const auto& group : groups_) {
    (group.name.empty() ? legacy : named).push_back(group);
    const std::string root = group.name.empty() ? "/api" : "/apis/" + group.name;
    if (!group.name.empty()) {
      documents_[root] = {rest::RenderApiGroup(group), meta->FindType("APIGroup")};
    }
    for (const auto& version : group.versions) {
      documents_[root + "/" + version.version] = {rest::RenderApiResourceList(group.name, version),
                                                  list_type};
    }
  }
  documents_["/apis"] = {rest::RenderApiGroupList(named), meta->FindType("APIGroupList")};
  aggregated_legacy_ = rest::RenderAggregated(legacy);
  aggregated_groups_ = rest::RenderAggregated(named);
}

std::vector<std::string> ApiEndpoint::roots(bool discovery) const {
  std::vector<std::string> roots{"/api"};
  if (discovery) roots.emplace_back("/apis");
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
  const auto* handler = found->second.handler;
  const auto& spec = handler->spec();
  const bool takes_path = spec.subresource != nullptr && spec.subresource->takes_path;
  if (!PathBehind(info).empty() && !takes_path) {
    SendNotFoundStatus(context);
    return std::nullopt;
  }
  const auto* verb = context.request.method == "HEAD" ? nullptr : FindVerb(info.verb);
  if (!HasPath(spec, info)) {
    SendNotFoundStatus(context);
    return std::nullopt;
  }
  if (!IsRouted(spec, info, verb)) {
    SendStatus(context, MethodNotAllowedStatus());
    return std::nullopt;
  }
  context.route = found->second.routes[static_cast<size_t>(verb - kVerbs)];
  return ServeVerb(context, handler, IsConnection(spec) ? &ResourceHandler::Connect : verb->serve);
}

void ApiEndpoint::ServeDiscovery(RequestContext& context) const {
  auto path = context.path;
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  auto media = rest::NegotiateDiscovery(OutputRequestOf(context));
  if (!media) return SendStatus(context, media.error());
  // Group documents answer any method; the rest is routed.
  const bool routed = path == "/api" || std::ranges::count(path, '/') > (IsLegacy(path) ? 1 : 2);
  if (routed && context.request.method != "GET")
    return SendStatus(context, MethodNotAllowedStatus());
  const bool root = path == "/api" || path == "/apis";
  if (root && media->aggregated) return ServeAggregated(context, *media);
  Document document;
  if (path == "/api") {
    auto legacy = std::ranges::find(groups_, "", &rest::DiscoveryGroup::name);
    if (legacy == groups_.end()) return SendNotFoundStatus(context);
    document = {rest::RenderApiVersions(*legacy, context.request.host), versions_type_};
  } else if (auto found = documents_.find(path); found != documents_.end()) {
    document = found->second;
  } else {
    return SendNotFoundStatus(context);
  }
  const rest::OutputMedia form{.format = media->format, .pretty = media->pretty};
  auto body = rest::RenderObject(*document.type, Slice::Own(std::move(document.body)), form);
  if (!body) return SendStatus(context, body.error());
  context.response.headers().AddView("content-type", rest::MediaTypeOf(media->format));
  context.response.Send(200, *std::move(body));
}

void ApiEndpoint::ServeAggregated(RequestContext& context,
                                  const rest::DiscoveryMedia& media) const {
  const auto& discovery =
      context.path.starts_with("/apis") ? aggregated_groups_ : aggregated_legacy_;
  auto& headers = context.response.headers();
  headers.Set("cache-control", "public");
  headers.Set("etag", discovery.etag);
  headers.Set("vary", "Accept");
  if (context.request.headers.Get("if-none-match") == discovery.etag) {
    return context.response.Send(304, {});
  }
  const rest::OutputMedia form{.format = media.format, .pretty = media.pretty};
  auto body = rest::RenderObject(*aggregated_type_, Slice::Copy(discovery.body), form);
  if (!body) return SendStatus(context, body.error());
  headers.Set("content-type",
              fmt::format("{}{}", rest::MediaTypeOf(media.format), kAggregatedType));
  context.response.Send(200, *std::move(body));
}

}  // namespace keelson::server
