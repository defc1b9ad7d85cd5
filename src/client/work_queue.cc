#include "client/work_queue.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace keelson::client {

using Waiter = std::shared_ptr<Completion<bool>>;

// Shared with the timers, so that one that fires late finds a queue that is shut down instead of
// none.
struct WorkQueue::State {
  State(Clock& the_clock, Options the_options)
      : clock(the_clock), options(the_options), tokens(the_options.burst), filled(clock.Now()) {}

  Clock& clock;
  const Options options;

  std::mutex mutex;
  std::deque<std::string> queue;  // in dirty, not in processing
  std::set<std::string> dirty;    // to be worked on
  std::set<std::string> working;  // being worked on
  std::map<std::string, int> failures;
  std::deque<Waiter> waiting;  // workers without work
  bool shut_down = false;
  double tokens;     // of the bucket
  TimePoint filled;  // when it had that many

  // Those to wake, without the lock.
  [[nodiscard]] Waiter Enqueue(std::string key) {
    queue.push_back(std::move(key));
    if (waiting.empty()) return nullptr;
    auto waiter = std::move(waiting.front());
    waiting.pop_front();
    return waiter;
  }

  void Add(std::string key) {
    Waiter waiter;
    {
      std::lock_guard lock(mutex);
      if (shut_down || !dirty.insert(key).second) return;
      if (!working.contains(key)) waiter = Enqueue(std::move(key));
    }
    if (waiter) waiter->Set(true);
  }

  // How long the bucket makes the next one wait; takes its token.
  Duration TakeToken() {
    const auto now = clock.Now();
    const std::chrono::duration<double> since = now - filled;
    tokens = std::min(options.burst, tokens + since.count() * options.per_second);
    filled = now;
    tokens -= 1;
    if (tokens >= 0) return Duration::zero();
    return std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(-tokens / options.per_second));
  }

  Duration NextDelay(const std::string& key) {
    std::lock_guard lock(mutex);
    const int failed = failures[key]++;
    Duration delay = options.longest_delay;
    if (failed < 40 && options.first_delay <= options.longest_delay / (int64_t{1} << failed)) {
      delay = options.first_delay * (int64_t{1} << failed);
    }
    return std::max(delay, TakeToken());
  }
};

WorkQueue::WorkQueue(Clock& clock, Options options)
    : state_(std::make_shared<State>(clock, options)) {}

WorkQueue::~WorkQueue() { ShutDown(); }

void WorkQueue::Add(std::string key) { state_->Add(std::move(key)); }

void WorkQueue::AddAfter(std::string key, Duration delay) {
  if (delay <= Duration::zero()) return Add(std::move(key));
  state_->clock.Schedule(state_->clock.Now() + delay,
                         [weak = std::weak_ptr<State>(state_), key = std::move(key)]() mutable {
                           if (auto state = weak.lock()) state->Add(std::move(key));
                         });
}

void WorkQueue::AddRateLimited(std::string key) {
  const auto delay = state_->NextDelay(key);
  AddAfter(std::move(key), delay);
}

void WorkQueue::Forget(const std::string& key) {
  std::lock_guard lock(state_->mutex);
  state_->failures.erase(key);
}

int WorkQueue::Failures(const std::string& key) const {
  std::lock_guard lock(state_->mutex);
  const auto found = state_->failures.find(key);
  return found == state_->failures.end() ? 0 : found->second;
}

Task<std::optional<std::string>> WorkQueue::Get() {
  const auto state = state_;
  for (;;) {
    Waiter waiter;
    {
      std::lock_guard lock(state->mutex);
      if (!state->queue.empty()) {
        auto key = std::move(state->queue.front());
        state->queue.pop_front();
        state->dirty.erase(key);
        state->working.insert(key);
        co_return key;
      }
      if (state->shut_down) co_return std::nullopt;
      waiter = Completion<bool>::Create();
      state->waiting.push_back(waiter);
    }
    co_await Completion<bool>::Wait(waiter);
  }
}

void WorkQueue::Done(const std::string& key) {
  Waiter waiter;
  {
    std::lock_guard lock(state_->mutex);
    state_->working.erase(key);
    if (state_->dirty.contains(key)) waiter = state_->Enqueue(key);
  }
  if (waiter) waiter->Set(true);
}

void WorkQueue::ShutDown() {
  std::deque<Waiter> waiting;
  {
    std::lock_guard lock(state_->mutex);
    state_->shut_down = true;
    waiting.swap(state_->waiting);
  }
  for (const auto& waiter : waiting) waiter->Set(true);
}

size_t WorkQueue::size() const {
  std::lock_guard lock(state_->mutex);
  return state_->queue.size();
}

}  // namespace keelson::client
