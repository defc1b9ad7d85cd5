#pragma once

// What a request is about, read from its method, path and query alone: the Kubernetes verb and the
// resource it names, or a plain path.
//
//   /api/{version}[/namespaces/{namespace}]/{resource}[/{name}[/{subresource}...]]
//   /apis/{group}/{version}/...        the same below a group
//   .../{version}/watch/..., .../{version}/proxy/...   the deprecated verb-in-path forms
//
// Anything else is a non-resource request whose verb is the method in lower case.

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/query.h"

namespace keelson::server {

// Views into the path and query it was made from, which must outlive it.
struct RequestInfo {
  bool is_resource_request = false;
  std::string_view path;
  std::string_view verb;
  std::string_view api_prefix;
  std::string_view api_group;
  std::string_view api_version;
  std::string_view ns;
  std::string_view resource;
  std::string_view subresource;
  std::string_view name;
  std::string_view parts;           // from the resource on: "pods/a/log"
  std::string_view field_selector;  // unparsed; only for verbs that honour selectors
  std::string_view label_selector;

  std::string kept;  // owns what is not in the path or query; keeps its address when moved

  RequestInfo() = default;
  RequestInfo(const RequestInfo&) = delete;  // views may point into `kept`
  RequestInfo& operator=(const RequestInfo&) = delete;

  bool IsReadOnly() const { return verb == "get" || verb == "list" || verb == "watch"; }
  // Part `index` of `parts`, empty beyond the last.
  std::string_view Part(size_t index) const;
};

// `path` is percent-decoded. Fails only for "/api/v1/watch" without more; `info` then holds what
// was understood.
Result<void> ParseRequestInfo(std::string_view method, std::string_view path,
                              const http::Query& query, RequestInfo& info);

// Requests without an end of their own: watch and proxy verbs; exec, attach, log, port-forward and
// proxy subresources; profiles.
bool IsLongRunning(const RequestInfo& info);

// resource, namespace, cluster or nothing: the metric label of a request's scope.
std::string_view ScopeOf(const RequestInfo& info);

}  // namespace keelson::server
