#pragma once

// Stacks taken inside signal handlers and handed to one reader without locks.
//
// The ring is a bounded queue of fixed slots (D. Vyukov's MPMC scheme, one consumer): each slot's
// sequence number says whose turn it is. When the reader falls behind, samples are counted as
// dropped, never waited for.

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profile/unwind.h"

namespace keelson::profile {

struct StackSample {
  pid_t thread = 0;
  uint32_t weight = 0;  // timer periods it stands for
  uint32_t depth = 0;
  std::array<uintptr_t, kMaxDepth> pcs;  // innermost first; the first is exact

  std::span<const uintptr_t> stack() const { return {pcs.data(), depth}; }
};

class SampleRing {
 public:
  explicit SampleRing(size_t slots);  // a power of two

  // Async-signal-safe. Fills a free slot in place; false when there is none.
  template <typename Fill>
  bool Push(Fill fill) {
    uint64_t position = head_.load(std::memory_order_relaxed);
    for (;;) {
      Slot& slot = slots_[position & mask_];
      uint64_t sequence = slot.sequence.load(std::memory_order_acquire);
      if (sequence == position) {
        if (!head_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed))
          continue;
        fill(slot.sample);
        slot.sequence.store(position + 1, std::memory_order_release);
        return true;
      }
      if (sequence < position) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
      position = head_.load(std::memory_order_relaxed);
    }
  }

  // For the one reader: visits and frees what is there. Returns how many.
  size_t Drain(const std::function<void(const StackSample&)>& visit);

  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    std::atomic<uint64_t> sequence;
    StackSample sample;
  };
  std::unique_ptr<Slot[]> slots_;
  uint64_t mask_;
  std::atomic<uint64_t> head_{0};
  uint64_t tail_ = 0;
  std::atomic<uint64_t> dropped_{0};
};

// The right to use SIGPROF, which one profile at a time has. While it lives, every SIGPROF that a
// thread receives puts that thread's stack into the ring.
class SignalSampler {
 public:
  static std::optional<SignalSampler> Acquire();
  SignalSampler(SignalSampler&& other) noexcept : owner_(std::exchange(other.owner_, false)) {}
  ~SignalSampler();

  SampleRing& ring() const;

 private:
  SignalSampler() = default;
  bool owner_ = true;
};

// The ids of this process's threads.
std::vector<pid_t> Threads();

}  // namespace keelson::profile
