#pragma once

// One named step of the request pipeline.
//
// Stages run on the request's io thread. Before is called in pipeline order and usually decides at
// once; After is called in reverse order, for exactly those stages whose Before let the request
// pass, when the answer has been given. A stage is shared by all requests and threads.

#include <cstdint>
#include <string_view>

#include "base/task.h"
#include "server/request_context.h"

namespace keelson::server {

enum class Verdict : uint8_t {
  kPass,    // on to the next stage
  kAnswer,  // the stage has answered; nothing further runs
  kWait,    // the decision needs waiting: call BeforeWaiting
};

class Stage {
 public:
  virtual ~Stage() = default;

  // As upstream's filter is called, without the "With".
  virtual std::string_view name() const = 0;
  // The label under which its time is published; empty when it is not tracked.
  virtual std::string_view latency_label() const { return {}; }

  virtual Verdict Before(RequestContext& context) { return Verdict::kPass; }
  // Never returns kWait. Only called after Before returned it.
  virtual Task<Verdict> BeforeWaiting(RequestContext& context) { co_return Verdict::kPass; }
  virtual void After(RequestContext& context) noexcept {}
};

}  // namespace keelson::server
