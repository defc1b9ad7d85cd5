#include "base/executor.h"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace keelson {
namespace {

thread_local Executor* current_executor = nullptr;

}  // namespace

Executor* Executor::Current() { return current_executor; }

Executor::Scope::Scope(Executor* executor) : previous_(current_executor) {
  current_executor = executor;
}

Executor::Scope::~Scope() { current_executor = previous_; }

struct ManualExecutor::State {
  std::mutex mutex;
  std::deque<Function> queue;
};

ManualExecutor::ManualExecutor() : state_(std::make_unique<State>()) {}
ManualExecutor::~ManualExecutor() = default;

void ManualExecutor::Post(Function function) {
  std::lock_guard lock(state_->mutex);
  state_->queue.push_back(std::move(function));
}

int ManualExecutor::RunUntilIdle() {
  Scope scope(this);
  for (int count = 0;; ++count) {
    Function function;
    {
      std::lock_guard lock(state_->mutex);
      if (state_->queue.empty()) return count;
      function = std::move(state_->queue.front());
      state_->queue.pop_front();
    }
    function();
  }
}

struct ThreadExecutor::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Function> queue;
  bool stopping = false;
  std::thread thread;
};

ThreadExecutor::ThreadExecutor(const char* thread_name) : state_(std::make_unique<State>()) {
  state_->thread = std::thread([this, state = state_.get()] {
    Scope scope(this);
    std::unique_lock lock(state->mutex);
    for (;;) {
      state->wake.wait(lock, [&] { return state->stopping || !state->queue.empty(); });
      if (state->queue.empty()) return;
      {
        Function function = std::move(state->queue.front());
        state->queue.pop_front();
        lock.unlock();
        function();
      }
      lock.lock();
    }
  });
  pthread_setname_np(state_->thread.native_handle(), thread_name);
}

ThreadExecutor::~ThreadExecutor() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_one();
  state_->thread.join();
}

void ThreadExecutor::Post(Function function) {
  {
    std::lock_guard lock(state_->mutex);
    state_->queue.push_back(std::move(function));
  }
  state_->wake.notify_one();
}

}  // namespace keelson
