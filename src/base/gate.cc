#include "base/gate.h"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <future>
#include <utility>

#include "base/completion.h"

namespace keelson {

// A detached coroutine: starts when resumed, frees itself at its end.
struct Gate::Runner {
  struct promise_type {
    Runner get_return_object() {
      return Runner{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {
      try {
        throw;
      } catch (const std::exception& e) {
        fmt::print(stderr, "background task ended by exception: {}\n", e.what());
      } catch (...) {
        fmt::print(stderr, "background task ended by unknown exception\n");
      }
      std::abort();
    }
  };
  std::coroutine_handle<promise_type> handle;
};

Gate::Runner Gate::Run(Gate* gate, Task<void> task) {
  {
    Task<void> owned = std::move(task);
    co_await std::move(owned);
  }  // the task's frame is gone before the gate may be
  gate->Leave();
}

Gate::~Gate() { KEELSON_CHECK(active_ == 0); }

bool Gate::Enter() {
  std::lock_guard lock(mutex_);
  if (closed_) return false;
  ++active_;
  return true;
}

void Gate::Leave() {
  std::function<void()> on_idle;
  {
    std::lock_guard lock(mutex_);
    KEELSON_CHECK(active_ > 0);
    if (--active_ == 0 && closed_) on_idle = std::exchange(on_idle_, nullptr);
  }
  if (on_idle) on_idle();
}

bool Gate::Spawn(Executor* executor, Task<void> task) {
  if (!Enter()) return false;
  auto handle = Run(this, std::move(task)).handle;
  if (executor == nullptr || executor == Executor::Current()) {
    handle.resume();
  } else {
    executor->Post([handle] { handle.resume(); });
  }
  return true;
}

Task<void> Gate::Close() {
  auto idle = Completion<bool>::Create();
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    if (active_ == 0) co_return;
    on_idle_ = [idle] { idle->Set(true); };
  }
  co_await Completion<bool>::Wait(idle);
}

void Gate::CloseAndWait() {
  auto idle = std::make_shared<std::promise<void>>();
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    if (active_ == 0) return;
    on_idle_ = [idle] { idle->set_value(); };
  }
  idle->get_future().wait();
}

int64_t Gate::active() const {
  std::lock_guard lock(mutex_);
  return active_;
}

bool Gate::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace keelson
