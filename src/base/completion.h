#pragma once

// Completion<T>: a one-shot slot that one coroutine awaits and any thread may fill.
//
// The awaiting coroutine resumes on the executor it suspended on (inline when it had none). Both
// sides hold the slot by shared_ptr, so either may go away first; a second Set is ignored and
// reported by its return value, which makes races between an answer, a timeout and a
// cancellation harmless. Set may run the waiter before it returns: call it without locks held.

#include <coroutine>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/executor.h"

namespace keelson {

template <typename T>
class Completion {
 public:
  static std::shared_ptr<Completion> Create() { return std::make_shared<Completion>(); }

  // Returns false when a value was there already.
  bool Set(T value) {
    std::coroutine_handle<> waiter;
    Executor* executor = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (value_) return false;
      value_.emplace(std::move(value));
      waiter = std::exchange(waiter_, nullptr);
      executor = executor_;
    }
    if (!waiter) return true;
    if (executor != nullptr && executor != Executor::Current()) {
      executor->Post([waiter] { waiter.resume(); });
    } else {
      waiter.resume();
    }
    return true;
  }

  bool IsSet() const {
    std::lock_guard lock(mutex_);
    return value_.has_value();
  }

  // Awaitable; at most one coroutine may wait, once.
  struct Awaiter {
    std::shared_ptr<Completion> self;
    bool await_ready() const { return self->IsSet(); }
    bool await_suspend(std::coroutine_handle<> handle) {
      std::lock_guard lock(self->mutex_);
      if (self->value_) return false;
      self->executor_ = Executor::Current();
      self->waiter_ = handle;
      return true;
    }
    T await_resume() { return std::move(*self->value_); }
  };

  static Awaiter Wait(std::shared_ptr<Completion> self) { return Awaiter{std::move(self)}; }

 private:
  mutable std::mutex mutex_;
  std::optional<T> value_;
  std::coroutine_handle<> waiter_;
  Executor* executor_ = nullptr;
};

}  // namespace keelson
