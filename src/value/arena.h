#pragma once

// Arena: memory that is handed out piecewise and freed whole.
//
// An Arena backs the nodes, names and strings of one tree. It may borrow: a tree that shares
// subtrees with an older tree, or strings with the bytes it was parsed from, keeps those alive by
// holding a reference here. Filled by one thread; once its tree is published it is only read, and
// references may then be held and dropped by any thread.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace keelson::value {

class ArenaRef;

class Arena {
 public:
  // Makes an arena whose first block holds about `size_hint` bytes.
  static ArenaRef Make(size_t size_hint = 2048);

  // Returns `size` bytes, aligned to 8; never null.
  void* Allocate(size_t size) {
    size = (size + 7) & ~size_t{7};
    if (size > static_cast<size_t>(end_ - next_)) [[unlikely]]
      return AllocateSlow(size);
    char* result = next_;
    next_ += size;
    return result;
  }
  template <typename T>
  T* AllocateArray(size_t count) {
    static_assert(alignof(T) <= 8);
    // T may be a pointer.
    return static_cast<T*>(Allocate(count * sizeof(T)));  // NOLINT(bugprone-sizeof-expression)
  }
  std::string_view CopyString(std::string_view text) {
    if (text.empty()) return {};
    auto* copy = static_cast<char*>(Allocate(text.size()));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  // Gives back the last `size` bytes handed out, which end where the newest allocation ends. A
  // hint: ignored when something was allocated since.
  void Return(void* from, size_t size) {
    if (static_cast<char*>(from) + size == next_) next_ = static_cast<char*>(from);
  }

  // Keeps `other` (or the block behind `bytes`) alive as long as this arena.
  void Borrow(const ArenaRef& other);
  void Borrow(Slice bytes);

  // Bytes handed out and reserved by this arena alone, without what it borrows.
  size_t reserved() const { return reserved_; }

 private:
  friend class ArenaRef;
  struct Block {
    Block* previous;
  };

  Arena() = default;
  Arena(const Arena&) = delete;
  ~Arena() = delete;
  static void Destroy(Arena* arena);
  void* AllocateSlow(size_t size);

  char* next_ = nullptr;
  char* end_ = nullptr;
  Block* blocks_ = nullptr;  // newest first; the oldest holds this Arena itself
  size_t reserved_ = 0;
  std::vector<ArenaRef> arenas_;
  std::vector<Slice> bytes_;
  std::atomic<uint32_t> references_{1};
};

// A counted reference to an Arena.
class ArenaRef {
 public:
  ArenaRef() = default;
  ArenaRef(const ArenaRef& other) noexcept : arena_(other.arena_) {
    if (arena_) arena_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  ArenaRef(ArenaRef&& other) noexcept : arena_(std::exchange(other.arena_, nullptr)) {}
  ArenaRef& operator=(ArenaRef other) noexcept {
    std::swap(arena_, other.arena_);
    return *this;
  }
  ~ArenaRef() {
    if (arena_ && arena_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      Arena::Destroy(arena_);
    }
  }

  Arena* operator->() const { return arena_; }
  Arena& operator*() const { return *arena_; }
  explicit operator bool() const { return arena_ != nullptr; }
  bool operator==(const ArenaRef&) const = default;

 private:
  friend class Arena;
  explicit ArenaRef(Arena* arena) : arena_(arena) {}
  Arena* arena_ = nullptr;
};

}  // namespace keelson::value
