#include "store_health.h"

#include <utility>

namespace keelson::app {
namespace {

constexpr Duration kEvery = std::chrono::seconds(1);

}  // namespace

Task<void> StoreHealth::Stop() {
  stop_.request_stop();
  co_await gate_.Close();
}

Result<void> StoreHealth::Last() const {
  std::lock_guard lock(mutex_);
  return last_;
}

Task<void> StoreHealth::Run() {
  do {
    auto answer =
        co_await store_.Health({.stop = stop_.get_token(), .deadline = clock_.Now() + timeout_});
    if (!answer) {
      const bool late = answer.error().code == ErrorCode::kTimeout;
      const auto why = late ? "context deadline exceeded" : answer.error().message;
      answer = Fail(answer.error().code, "error getting data from etcd: {}", why);
    }
    std::lock_guard lock(mutex_);
    last_ = std::move(answer);
  } while (co_await SleepFor(clock_, kEvery, stop_.get_token()));
}

}  // namespace keelson::app
