#pragma once

// An event loop on a thread of its own: sockets, timers and posted functions.
//
// Connections are pinned to one IoThread, and everything about them happens there without locks.
// Only Post, Start and Stop may be called from other threads. One turn of the loop is: wait, handle
// socket events, fire timers, run what was posted, run what asked for the end of the turn.
// Readiness is edge-triggered, so a connection costs one epoll_ctl in its life.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "net/timer_wheel.h"

namespace keelson::net {

// Told about readiness of a watched file descriptor. `events` is the mask of epoll(7).
class FdHandler {
 public:
  virtual void OnEvents(uint32_t events) = 0;

 protected:
  ~FdHandler() = default;
};

// Work to do once at the end of the current turn (or of the next one, when asked for by another
// such item), such as sending what a batch of events has produced. Linked into the loop without
// allocation; leaves it when destroyed.
class TurnEnd {
 public:
  TurnEnd() = default;
  TurnEnd(const TurnEnd&) = delete;
  TurnEnd& operator=(const TurnEnd&) = delete;

 protected:
  ~TurnEnd();
  virtual void OnTurnEnd() = 0;

 private:
  friend class IoThread;
  class IoThread* queued_on_ = nullptr;
  size_t position_ = 0;
};

class IoThread final : public Executor {
 public:
  explicit IoThread(std::string name);
  ~IoThread() override;

  // Starts the thread. Fails when the kernel refuses an epoll instance.
  Result<void> Start();
  // Runs what is already posted, then ends and joins the thread. What is still watched is dropped
  // without a word: owners of sockets close them before. Idempotent; not from the thread itself.
  void Stop();

  void Post(Function function) override;

  // --- below: on the loop's own thread only

  // The time at the start of this turn.
  TimePoint Now() const { return now_; }

  // Watches `fd` for `events`; the handler must stay alive until Unwatch.
  Result<void> Watch(int fd, uint32_t events, FdHandler* handler);
  void Unwatch(int fd, FdHandler* handler);

  TimerWheel& timers() { return timers_; }

  void AtTurnEnd(TurnEnd& item);

  // Memory that every connection of this thread borrows while it handles an event, so that an idle
  // one holds no buffers. A user must be done with a buffer before it calls anything that may use
  // the same one.
  struct Scratch {
    static constexpr size_t kReadSize = 64 * 1024;
    static constexpr size_t kRecordSize = 16 * 1024;
    std::unique_ptr<char[]> read;    // bytes from a socket
    std::unique_ptr<char[]> plain;   // decrypted bytes of one TLS record
    std::unique_ptr<char[]> record;  // bytes gathered for one TLS record
    std::string cipher;              // encrypted bytes on their way to a socket
  };
  Scratch& scratch() { return scratch_; }

 private:
  friend class TurnEnd;
  void Run();
  int WaitMillis() const;
  void Dispatch(int count);
  void RunPosted();
  void RunTurnEnds();

  const std::string name_;
  int epoll_fd_ = -1;
  int wake_fd_ = -1;
  std::thread thread_;

  std::mutex mutex_;
  std::vector<Function> posted_;  // guarded by mutex_
  std::atomic<bool> has_posted_ = false;
  bool stopping_ = false;

  TimePoint now_;
  TimerWheel timers_;
  std::vector<Function> local_;    // posted from this thread
  std::vector<Function> running_;  // kept for its capacity
  std::vector<TurnEnd*> turn_ends_;
  std::vector<TurnEnd*> running_turn_ends_;

  struct Batch;  // the events of the current wait
  std::unique_ptr<Batch> batch_;
  Scratch scratch_;
};

// The process's loops, one per core by default.
class IoPool {
 public:
  // `threads` = 0 means one per core.
  static Result<std::unique_ptr<IoPool>> Create(int threads = 0);
  ~IoPool() { Stop(); }

  size_t size() const { return threads_.size(); }
  IoThread& at(size_t index) { return *threads_[index]; }
  // Round robin. Callable from any thread.
  IoThread& Next() { return *threads_[next_.fetch_add(1, std::memory_order_relaxed) % size()]; }
  void Stop();

 private:
  std::vector<std::unique_ptr<IoThread>> threads_;
  std::atomic<size_t> next_ = 0;
};

}  // namespace keelson::net
