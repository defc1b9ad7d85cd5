#include "server/resource_route.h"

#include <algorithm>
#include <stop_token>
#include <utility>

namespace keelson::server {
namespace {

using rest::ResourceHandler;

// Where a verb is routed: at one object, at a collection, or at a collection of all namespaces too.
enum class Place : uint8_t { kObject, kCollection, kEverywhere };

struct VerbEntry {
  std::string_view name;
  std::string_view label;  // of upstream's route
  schema::Verb bit;
  Place place;
  Route::Verb serve;
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

}  // namespace

std::string_view PathBehind(const RequestInfo& info) {
  const auto head = info.resource.size() + 1 + info.name.size() + 1 + info.subresource.size() + 1;
  return info.subresource.empty() || info.parts.size() < head ? std::string_view()
                                                              : info.parts.substr(head);
}

std::vector<std::string_view> VerbLabelsOf(const rest::ResourceSpec& spec) {
  std::vector<std::string_view> labels;
  for (const auto& verb : kVerbs) {
    const bool served = (spec.verbs() & verb.bit) != 0;
    labels.push_back(!served ? "" : IsConnection(spec) ? "CONNECT" : verb.label);
  }
  return labels;
}

std::optional<Route> FindRoute(const RequestContext& context, const ResourceHandler& handler,
                               std::shared_ptr<const void> owner) {
  const auto* verb = context.request.method == "HEAD" ? nullptr : FindVerb(context.info.verb);
  if (!IsRouted(handler.spec(), context.info, verb)) return std::nullopt;
  const bool connection = IsConnection(handler.spec());
  return Route{.handler = &handler,
               .verb = connection ? &ResourceHandler::Connect : verb->serve,
               .verb_index = static_cast<size_t>(verb - kVerbs),
               .owner = std::move(owner)};
}

// Ends early for whichever reason comes first: client gone, deadline, watches being drained.
Task<void> ServeRoute(RequestContext& context, Route route) {
  const auto& spec = route.handler->spec();
  ContextWarnings warnings(context);
  if (!spec.deprecation.empty()) warnings.Warn(spec.deprecation);
  std::stop_source end;
  auto stop = [&end] { end.request_stop(); };
  std::stop_callback on_cancel(context.exchange.cancelled.get_token(), stop);
  std::stop_callback on_drain(
      context.watch_ticket ? context.watch_ticket.stop() : std::stop_token(), stop);
  const auto& info = context.info;
  // Below a namespace's own path, its name is also the request's namespace.
  const bool namespaced = spec.info->scope == schema::Scope::kNamespaced;
  co_await (route.handler->*route.verb)({.exchange = context.exchange,
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

}  // namespace keelson::server
