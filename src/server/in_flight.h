#pragma once

// How many requests may be served at once, and how many were.
//
// Long-running requests do not count. The watermark is the most that ran together since it was last
// taken; the max-in-flight-filter hook publishes it every second.

#include <atomic>
#include <cstdint>
#include <stop_token>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/task.h"

namespace keelson::server {

// One kind of request. A limit of 0 means none. Thread-safe, lock-free.
class InFlightLimit {
 public:
  explicit InFlightLimit(int64_t limit) : limit_(limit) {}
  bool unlimited() const { return limit_ == 0; }
  bool Enter() {
    int64_t now = current_.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (now > limit_) {
      current_.fetch_sub(1, std::memory_order_acq_rel);
      return false;
    }
    int64_t seen = watermark_.load(std::memory_order_relaxed);
    while (now > seen && !watermark_.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
    }
    return true;
  }
  void Leave() { current_.fetch_sub(1, std::memory_order_acq_rel); }
  int64_t current() const { return current_.load(std::memory_order_relaxed); }
  // Starts over from what runs now.
  int64_t TakeWatermark() {
    return watermark_.exchange(current_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

 private:
  const int64_t limit_;
  std::atomic<int64_t> current_{0};
  std::atomic<int64_t> watermark_{0};
};

struct InFlightLimits {
  InFlightLimits(int64_t read_only_limit, int64_t mutating_limit)
      : read_only(read_only_limit), mutating(mutating_limit) {}
  alignas(64) InFlightLimit read_only;
  alignas(64) InFlightLimit mutating;
};

inline constexpr const char* kMaxInFlightHook = "max-in-flight-filter";

// Publishes both watermarks every second until `stop`.
Task<void> MaintainWatermarks(InFlightLimits& limits, metrics::Vector<metrics::Gauge>& gauges,
                              Clock& clock, std::stop_token stop);

}  // namespace keelson::server
