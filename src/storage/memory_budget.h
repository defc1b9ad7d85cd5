#pragma once

// A byte budget shared by all caches: what would pass it is refused before memory runs out.

#include <atomic>
#include <cstddef>

namespace keelson::storage {

class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit) {}

  // Accounts for memory that is taken in any case: changes that have happened must be kept.
  void Take(size_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void Give(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  size_t used() const { return used_.load(std::memory_order_relaxed); }
  size_t limit() const { return limit_; }
  bool exceeded() const { return used() > limit_; }

 private:
  const size_t limit_;
  std::atomic<size_t> used_{0};
};

}  // namespace keelson::storage
