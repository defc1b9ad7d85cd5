#pragma once

// Waiting for an answer within a Call's limits.
//
// Backends answer through a Reply that another thread fills. AwaitReply adds the caller's stop
// token and deadline: whichever comes first fills the Reply, and the later ones are ignored.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "base/completion.h"
#include "base/result.h"
#include "base/task.h"
#include "kv/store.h"

namespace keelson::kv {

template <typename T>
using Reply = Completion<Result<T>>;

// The deadlines of calls under way. One timer serves them all, so a deadline costs a call two map
// operations and is met up to kGrain late; most calls end long before theirs. Thread-safe. Held by
// shared_ptr because the clock may still be calling when the store is gone.
class Deadlines : public std::enable_shared_from_this<Deadlines> {
 public:
  static constexpr Duration kGrain = std::chrono::milliseconds(20);
  using Id = std::pair<TimePoint, uint64_t>;

  explicit Deadlines(Clock& clock) : clock_(clock) {}

  Id Add(TimePoint when, Clock::Callback expire);
  void Remove(const Id& id);
  bool Passed(const Call& call) const { return call.deadline && *call.deadline <= clock_.Now(); }

  // Drops the timer; deadlines added later are not watched.
  void Stop();

 private:
  void Arm();  // with mutex_ held
  void Sweep();

  Clock& clock_;
  std::mutex mutex_;
  std::map<Id, Clock::Callback> waiting_;
  uint64_t next_id_ = 0;
  std::optional<Clock::TimerId> timer_;
  TimePoint timer_at_;
  bool stopped_ = false;
};

inline std::unexpected<Error> FailCancelled() {
  return Fail(ErrorCode::kCancelled, "the caller gave up");
}
inline std::unexpected<Error> FailTimeout() {
  return Fail(ErrorCode::kTimeout, "the deadline passed");
}
inline std::unexpected<Error> FailClosed() {
  return Fail(ErrorCode::kUnavailable, "the store is closed");
}

// Fails when the call's limits are already used up.
inline Result<void> CheckCall(const Call& call, const Deadlines& deadlines) {
  if (call.stop.stop_requested()) return FailCancelled();
  if (deadlines.Passed(call)) return FailTimeout();
  return {};
}

template <typename T>
Task<Result<T>> AwaitReply(std::shared_ptr<Reply<T>> reply, Call call,
                           std::shared_ptr<Deadlines> deadlines) {
  auto give_up = [reply] { reply->Set(FailCancelled()); };
  std::optional<std::stop_callback<decltype(give_up)>> on_stop;
  if (call.stop.stop_possible()) on_stop.emplace(call.stop, give_up);
  std::optional<Deadlines::Id> deadline;
  if (call.deadline) {
    deadline = deadlines->Add(*call.deadline, [reply] { reply->Set(FailTimeout()); });
  }
  auto result = co_await Reply<T>::Wait(reply);
  if (deadline) deadlines->Remove(*deadline);
  co_return result;
}

}  // namespace keelson::kv
