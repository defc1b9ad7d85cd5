#pragma once

// Where coroutines run.
//
// An Executor runs posted functions one at a time, in order, on a thread of its own choosing.
// Awaitables in this library remember the executor that was current when a coroutine suspended and
// resume it there, so a coroutine never changes threads behind its author's back.

#include <functional>
#include <memory>

namespace keelson {

class Executor {
 public:
  using Function = std::move_only_function<void()>;

  virtual ~Executor() = default;

  // Runs `function` later on this executor. Callable from any thread.
  virtual void Post(Function function) = 0;

  // The executor whose function is running on this thread, or nullptr.
  static Executor* Current();

 protected:
  // Makes an executor current for a scope; implementations wrap their loop in one.
  class Scope {
   public:
    explicit Scope(Executor* executor);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Executor* previous_;
  };
};

// Runs everything on the thread that calls RunUntilIdle. For tests and for tools without I/O.
class ManualExecutor final : public Executor {
 public:
  ManualExecutor();
  ~ManualExecutor() override;

  void Post(Function function) override;

  // Runs posted functions, including those they post, until none is left. Returns how many ran.
  int RunUntilIdle();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One thread that runs posted functions in order until destroyed; the destructor runs what is
// already posted, then joins.
class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(const char* thread_name);
  ~ThreadExecutor() override;

  void Post(Function function) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace keelson
