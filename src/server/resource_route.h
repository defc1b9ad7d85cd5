#pragma once

// The way from a request to a verb of the resource it names.

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "rest/resource.h"
#include "server/request_context.h"

namespace keelson::server {

struct Route {
  using Verb = Task<void> (rest::ResourceHandler::*)(rest::Request) const;

  const rest::ResourceHandler* handler = nullptr;
  Verb verb = nullptr;
  size_t verb_index = 0;  // in VerbLabelsOf
  // Keeps the handler alive while it serves; null when others see to that.
  std::shared_ptr<const void> owner;
};

// The verbs that resources may have, as metrics call them; empty for those this one does not have.
std::vector<std::string_view> VerbLabelsOf(const rest::ResourceSpec& spec);

// Nothing when the resource does not have the verb, or not at this place: a POST to an object, an
// object of no namespace.
std::optional<Route> FindRoute(const RequestContext& context, const rest::ResourceHandler& handler,
                               std::shared_ptr<const void> owner = nullptr);

// Answers the request. `context` outlives the task.
Task<void> ServeRoute(RequestContext& context, Route route);

// What follows a subresource's name: "healthz/x" of pods/a/proxy/healthz/x.
std::string_view PathBehind(const RequestInfo& info);

}  // namespace keelson::server
