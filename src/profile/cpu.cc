// CPU profiles. Every thread has a timer on its own CPU clock that interrupts that thread, so that
// a sample always shows who spent the time; a process-wide timer would favour the main thread.
// Threads that start later get theirs within a tenth of a second.

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "profile/aside.h"
#include "profile/encode.h"
#include "profile/profile.h"
#include "profile/sampler.h"

namespace keelson::profile {
namespace {

using std::chrono::steady_clock;

constexpr int64_t kPeriodNanoseconds = 10'000'000;  // 100 Hz, as Go
constexpr auto kRescan = std::chrono::milliseconds(100);

// The kernel's name for the CPU clock of one thread of this process.
clockid_t ThreadClock(pid_t thread) {
  constexpr int kPerThread = 4, kScheduler = 2;
  return static_cast<clockid_t>((~static_cast<uint32_t>(thread) << 3) | kPerThread | kScheduler);
}

class ThreadTimers {
 public:
  ~ThreadTimers() {
    for (auto [thread, timer] : timers_) ::timer_delete(timer);
  }

  // Gives new threads a timer and takes back those of threads that ended.
  void Rescan(pid_t except) {
    std::map<pid_t, timer_t> kept;
    for (pid_t thread : Threads()) {
      if (thread == except) continue;
      if (auto known = timers_.extract(thread)) {
        kept.insert(std::move(known));
      } else if (timer_t timer; Start(thread, &timer)) {
        kept.emplace(thread, timer);
      }
    }
    for (auto [thread, timer] : timers_) ::timer_delete(timer);
    timers_ = std::move(kept);
  }

 private:
  static bool Start(pid_t thread, timer_t* timer) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = thread;
    if (::timer_create(ThreadClock(thread), &event, timer) != 0) return false;  // just ended
    itimerspec times{};
    times.it_interval.tv_nsec = kPeriodNanoseconds;
    times.it_value.tv_nsec = kPeriodNanoseconds;
    return ::timer_settime(*timer, 0, &times, nullptr) == 0;
  }

  std::map<pid_t, timer_t> timers_;
};

class Tally {
 public:
  void Add(const StackSample& sample) {
    auto stack = sample.stack();
    counts_[std::vector<uintptr_t>(stack.begin(), stack.end())] += sample.weight;
  }
  const std::map<std::vector<uintptr_t>, int64_t>& counts() const { return counts_; }

 private:
  std::map<std::vector<uintptr_t>, int64_t> counts_;
};

Result<std::string> Encode(const Tally& tally, WallTime start, Duration taken) {
  TRY(auto space, AddressSpace::Read());
  Encoder encoder({{"samples", "count"}, {"cpu", "nanoseconds"}});
  for (const auto& [stack, count] : tally.counts()) {
    const int64_t values[] = {count, count * kPeriodNanoseconds};
    encoder.AddSample(stack, true, values);
  }
  encoder.SetPeriod({"cpu", "nanoseconds"}, kPeriodNanoseconds);
  encoder.SetTimes(start.time_since_epoch().count(), taken.count());
  return encoder.Finish(space);
}

Result<std::string> Record(const SignalSampler& sampler, Duration duration, std::stop_token stop) {
  const WallTime wall_start = std::chrono::system_clock::now();
  const auto start = steady_clock::now();
  const auto end = start + duration;
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  Tally tally;
  {
    ThreadTimers timers;
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested() && steady_clock::now() < end) {
      timers.Rescan(self);
      auto until = std::min(end, steady_clock::now() + kRescan);
      wake.wait_until(lock, stop, until, [] { return false; });
      sampler.ring().Drain([&](const StackSample& sample) { tally.Add(sample); });
    }
  }
  sampler.ring().Drain([&](const StackSample& sample) { tally.Add(sample); });
  return Encode(tally, wall_start, steady_clock::now() - start);
}

}  // namespace

Task<Result<std::string>> CpuProfile(Duration duration, std::stop_token stop) {
  auto sampler = SignalSampler::Acquire();
  if (!sampler) co_return Fail(ErrorCode::kConflict, "cpu profiling already in use");
  co_return co_await RunAside(
      [duration, stop, taken = *std::move(sampler)] { return Record(taken, duration, stop); });
}

}  // namespace keelson::profile
