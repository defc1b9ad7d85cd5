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

struct VerbEntry {
  std::string_view name;
  schema::Verb bit;
  Verb serve;
};

constexpr VerbEntry kVerbs[] = {
    {"get", schema::kVerbGet, &ResourceHandler::Get},
    {"list", schema::kVerbList, &ResourceHandler::List},
    {"watch", schema::kVerbWatch, &ResourceHandler::List},
    {"create", schema::kVerbCreate, &ResourceHandler::Create},
    {"update", schema::kVerbUpdate, &ResourceHandler::Update},
    {"delete", schema::kVerbDelete, &ResourceHandler::Delete},
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

// Ends early for whichever reason comes first: client gone, deadline, watches being drained.
Task<void> ServeVerb(RequestContext& context, const ResourceHandler* handler, Verb verb) {
  ContextWarnings warnings(context);
  std::stop_source end;
  auto stop = [&end] { end.request_stop(); };
  std::stop_callback on_cancel(context.exchange.cancelled.get_token(), stop);
  std::stop_callback on_drain(
      context.watch_ticket ? context.watch_ticket.stop() : std::stop_token(), stop);
  co_await (handler->*verb)({.exchange = context.exchange,
                             .response = context.response,
                             .query = context.query(),
                             .warnings = warnings,
                             .ns = context.info.ns,
                             .name = context.info.name,
                             .subresource = context.info.subresource,
                             .stop = end.get_token()});
}

Status MethodNotAllowedStatus() {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource",
          .details = StatusDetails{}};
}

// Whether this verb is routed at this place: a namespaced resource is only listed across
// namespaces, everything else needs one.
bool IsRouted(const schema::ResourceInfo& info, const RequestInfo& request, const VerbEntry* verb) {
  if (verb == nullptr || (info.verbs & verb->bit) == 0) return false;
  if (info.scope == schema::Scope::kCluster || !request.ns.empty()) return true;
  return verb->name == "list" || verb->name == "watch";
}

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
    const auto& info = *handler->spec().info;
    handlers_[{std::string(info.group), std::string(info.version), std::string(info.plural)}] =
        handler;
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

std::vector<std::string> ApiEndpoint::roots() const {
  std::vector<std::string> roots{"/api", "/apis"};
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
  auto found = handlers_.find(
      {std::string(info.api_group), std::string(info.api_version), std::string(info.resource)});
  if (found == handlers_.end() || !info.subresource.empty()) {
    SendNotFoundStatus(context);
    return std::nullopt;
  }
  const auto* verb = FindVerb(info.verb);
  if (!IsRouted(*found->second->spec().info, info, verb)) {
    SendStatus(context, MethodNotAllowedStatus());
    return std::nullopt;
  }
  return ServeVerb(context, found->second, verb->serve);
}

void ApiEndpoint::ServeDiscovery(RequestContext& context) const {
  auto path = context.path;
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  auto media = rest::NegotiateDiscovery(OutputRequestOf(context));
  if (!media) return SendStatus(context, media.error());
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
