#pragma once

// What finally answers a request.

#include <functional>
#include <optional>

#include "base/task.h"
#include "server/request_context.h"

namespace keelson::server {

// Nothing when the answer has been given; a task when it still has to be awaited.
using Pending = std::optional<Task<void>>;

class Endpoint {
 public:
  virtual ~Endpoint() = default;
  // `context` outlives the returned task. Called on the request's io thread; shared by all.
  virtual Pending Serve(RequestContext& context) = 0;
};

// An endpoint made of a function that answers at once.
class FunctionEndpoint final : public Endpoint {
 public:
  using Function = std::function<void(RequestContext&)>;
  explicit FunctionEndpoint(Function function) : function_(std::move(function)) {}
  Pending Serve(RequestContext& context) override {
    function_(context);
    return std::nullopt;
  }

 private:
  Function function_;
};

}  // namespace keelson::server
