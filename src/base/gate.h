#pragma once

// Gate: the only way to let a coroutine run on its own.
//
// Whoever owns background work owns a Gate, spawns through it and closes it when stopping. Close
// refuses new work and finishes when all spawned tasks have. An exception that leaves a spawned
// task is a defect: it aborts the process with its text.

#include <coroutine>
#include <cstdint>
#include <mutex>

#include "base/executor.h"
#include "base/task.h"

namespace keelson {

class Gate {
 public:
  Gate() = default;
  ~Gate();  // the gate must be closed, or never used
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Starts `task` on `executor` (inline when nullptr or already current). Returns false, and drops
  // the task, when the gate is closed. Callable from any thread.
  bool Spawn(Executor* executor, Task<void> task);

  // Refuses further work, then completes when none is left, resuming on the awaiter's executor.
  // Called at most once.
  Task<void> Close();

  // The same for callers outside any executor: blocks the thread.
  void CloseAndWait();

  int64_t active() const;
  bool closed() const;

 private:
  bool Enter();
  void Leave();
  struct Runner;
  static Runner Run(Gate* gate, Task<void> task);

  mutable std::mutex mutex_;
  int64_t active_ = 0;
  bool closed_ = false;
  std::function<void()> on_idle_;
};

}  // namespace keelson
