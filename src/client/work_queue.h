#pragma once

// WorkQueue: keys to work on.
//
// A key is in the queue once however often it is added, and is handed to one worker at a time: what
// is added while it is being worked on comes again when that is done. What failed comes back later
// and later, and all that comes back together no faster than a bucket allows.
//
//   while (auto key = co_await queue.Get()) {
//     if (co_await Reconcile(*key)) queue.Forget(*key); else queue.AddRateLimited(*key);
//     queue.Done(*key);
//   }
//
// Thread-safe; workers resume on the executor they wait on.

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/completion.h"
#include "base/task.h"

namespace keelson::client {

class WorkQueue {
 public:
  struct Options {
    Duration first_delay = std::chrono::milliseconds(5);  // doubled with every failure
    Duration longest_delay = std::chrono::seconds(1000);
    double per_second = 10;  // of what comes back
    double burst = 100;
  };

  // The clock outlives it.
  explicit WorkQueue(Clock& clock) : WorkQueue(clock, Options()) {}
  WorkQueue(Clock& clock, Options options);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void Add(std::string key);
  void AddAfter(std::string key, Duration delay);
  // As late as its failures so far say.
  void AddRateLimited(std::string key);
  // Its failures no longer count.
  void Forget(const std::string& key);
  int Failures(const std::string& key) const;

  // The next key; nothing once the queue is shut down and empty.
  Task<std::optional<std::string>> Get();
  // Ends the work on a key that Get has returned.
  void Done(const std::string& key);

  // Takes no more; what is in it is still handed out.
  void ShutDown();
  // Keys that wait for a worker.
  size_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace keelson::client
