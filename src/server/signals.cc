#include "server/signals.h"

#include <utility>

#include "base/completion.h"

namespace keelson::server {
namespace {

using enum LifecycleEvent;
using Mode = LifecycleEdge::Mode;

constexpr LifecycleEdge kEdges[] = {
    {std::nullopt, kShutdownInitiated, ""},
    {kShutdownInitiated, kAfterShutdownDelayDuration, "shutdown delay"},
    {std::nullopt, kPreShutdownHooksStopped, "pre-shutdown hooks"},
    {kAfterShutdownDelayDuration, kNotAcceptingNewRequest, ""},
    {kPreShutdownHooksStopped, kNotAcceptingNewRequest, ""},
    {kNotAcceptingNewRequest, kInFlightRequestsDrained, "requests and watches end"},
    {kNotAcceptingNewRequest, kHTTPServerStoppedListening, "listener closes",
     Mode::kWithoutRetryAfter},
    {kInFlightRequestsDrained, kHTTPServerStoppedListening, "listener closes",
     Mode::kWithRetryAfter},
};

}  // namespace

std::string_view LifecycleEventName(LifecycleEvent event) {
  switch (event) {
    case kShutdownInitiated:
      return "ShutdownInitiated";
    case kAfterShutdownDelayDuration:
      return "AfterShutdownDelayDuration";
    case kPreShutdownHooksStopped:
      return "PreShutdownHooksStopped";
    case kNotAcceptingNewRequest:
      return "NotAcceptingNewRequest";
    case kInFlightRequestsDrained:
      return "InFlightRequestsDrained";
    case kHTTPServerStoppedListening:
      return "HTTPServerStoppedListening";
    case kMuxAndDiscoveryComplete:
      return "MuxAndDiscoveryComplete";
    case kHasBeenReady:
      return "HasBeenReady";
  }
  return "";
}

bool Signal::Raise(const Clock& clock) {
  std::vector<std::function<void()>> waiting;
  {
    std::lock_guard lock(mutex_);
    if (raised_.load(std::memory_order_relaxed)) return false;
    time_ = clock.WallNow();
    raised_.store(true, std::memory_order_release);
    waiting = std::exchange(waiting_, {});
  }
  for (auto& function : waiting) function();
  return true;
}

std::optional<WallTime> Signal::raised_at() const {
  std::lock_guard lock(mutex_);
  if (!raised_.load(std::memory_order_relaxed)) return std::nullopt;
  return time_;
}

void Signal::OnRaised(std::function<void()> function) {
  {
    std::lock_guard lock(mutex_);
    if (!raised_.load(std::memory_order_relaxed)) {
      waiting_.push_back(std::move(function));
      return;
    }
  }
  function();
}

Task<void> Signal::Wait() {
  if (raised()) co_return;
  auto done = Completion<bool>::Create();
  OnRaised([done] { done->Set(true); });
  co_await Completion<bool>::Wait(done);
}

std::span<const LifecycleEdge> ShutdownGraph() { return kEdges; }

}  // namespace keelson::server
