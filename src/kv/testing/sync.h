#pragma once

// Running a store's tasks from tests, which are not coroutines.

#include <optional>
#include <utility>

#include "base/gate.h"
#include "base/task.h"

namespace keelson::kv::testing {

namespace internal {
template <typename T>
Task<void> StoreInto(Task<T> task, std::optional<T>* out) {
  out->emplace(co_await std::move(task));
}
}  // namespace internal

// Runs the task to its end, blocking this thread while it waits for others.
template <typename T>
T Await(Task<T> task) {
  std::optional<T> result;
  Gate gate;
  gate.Spawn(nullptr, internal::StoreInto(std::move(task), &result));
  gate.CloseAndWait();
  return *std::move(result);
}

inline void Await(Task<void> task) {
  Gate gate;
  gate.Spawn(nullptr, std::move(task));
  gate.CloseAndWait();
}

// A task under way whose end is looked at later.
template <typename T>
class Started {
 public:
  explicit Started(Task<T> task) {
    gate_.Spawn(nullptr, internal::StoreInto(std::move(task), &result_));
  }
  ~Started() {
    if (!gate_.closed()) gate_.CloseAndWait();
  }
  bool done() const { return gate_.active() == 0; }
  T Wait() {
    gate_.CloseAndWait();
    return *std::move(result_);
  }

 private:
  std::optional<T> result_;
  Gate gate_;
};

}  // namespace keelson::kv::testing
