#pragma once

// Subresource: an endpoint that is not plain storage.
//
//   POST .../pods/a/binding, .../eviction, .../serviceaccounts/a/token    acts on the named object
//   POST .../tokenreviews, .../subjectaccessreviews, .../bindings         a kind of one request
//   ANY  .../pods/a/log, .../exec, .../proxy                              takes the connection over
//
// The verbs negotiate, read options, decode, default and admit as for any other write; an
// implementation only computes. Immutable, shared by all threads, found through the KindTable.
// Subresources that show the object itself under other rules are a Strategy instead, and those
// that show something else of it a Projection.

#include <optional>

#include "base/status.h"
#include "base/task.h"
#include "rest/options.h"
#include "rest/resource.h"
#include "rest/strategy.h"
#include "value/document.h"

namespace keelson::rest {

// What a POST is answered with: an object of the endpoint's kind, or a Status.
struct Reply {
  value::Document object;
  std::optional<Status> status;
  int code = 201;
};

// A POST to a subresource. Everything outlives the task it is passed to.
struct SubresourceCall {
  const Request& request;    // ns, name, user
  const ResourceSpec& spec;  // of the resource that the URL names
  const WriteScope& scope;
  const WriteOptions& options;
};

class Subresource {
 public:
  virtual ~Subresource() = default;

  // `object` is of the endpoint's kind, decoded, defaulted and admitted. Must honour
  // call.scope.dry_run.
  virtual Task<ApiResult<Reply>> Create(const SubresourceCall& call, value::Document object) const;

  // Answers by itself, whatever the method.
  virtual Task<void> Connect(Request request, const ResourceSpec& spec) const;
};

// The answer of a POST that did what it was asked: 201, Success.
Reply SuccessReply();

}  // namespace keelson::rest
