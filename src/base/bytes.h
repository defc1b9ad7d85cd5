#pragma once

// Immutable bytes that many owners share without copying.
//
// A Slice is a view into a reference-counted block (or into static memory, then without an owner).
// Copying a Slice is one atomic increment; sub-slices share the block. Responses, cached objects
// and watch events are all made of Slices, so one encoding serves every reader. A block is one
// allocation: a 16-byte header followed by its bytes.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keelson {

class Slice {
 public:
  Slice() = default;

  // Copies the bytes into a block of their own.
  static Slice Copy(std::string_view bytes);
  // Keeps the string's own buffer; no copy of the bytes.
  static Slice Own(std::string bytes);
  // Refers to memory that lives as long as the process, such as a literal.
  static Slice Static(std::string_view bytes) { return Slice(nullptr, bytes.data(), bytes.size()); }
  // Allocates a block of exactly `size` bytes and lets `fill(char*)` write it.
  template <typename Fill>
  static Slice Make(size_t size, Fill&& fill) {
    Block* block = NewBlock(size);
    fill(block->bytes());
    return Slice(block, block->bytes(), size);
  }

  Slice(const Slice& other) noexcept
      : block_(other.block_), data_(other.data_), size_(other.size_) {
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Slice(Slice&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Slice& operator=(Slice other) noexcept {
    std::swap(block_, other.block_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Slice() {
    if (block_ && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) Free(block_);
  }

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_, size_}; }

  // For containers that keep one word per block where a Slice has three. `begin` is the first byte
  // of a block, as Make handed it to `fill`; Retain and Release are what copying and destroying a
  // Slice of that block would do.
  static void Retain(const char* begin) {
    BlockAt(begin)->references.fetch_add(1, std::memory_order_relaxed);
  }
  static void Release(const char* begin) {
    Block* block = BlockAt(begin);
    if (block->references.fetch_sub(1, std::memory_order_acq_rel) == 1) Free(block);
  }
  // A Slice of `part`, which lies in the block that begins at `begin`.
  static Slice Share(const char* begin, std::string_view part) {
    Retain(begin);
    return Slice(BlockAt(begin), part.data(), part.size());
  }

  // The part from `offset`, at most `count` bytes, sharing this block.
  Slice Sub(size_t offset, size_t count = std::string_view::npos) const {
    auto part = view().substr(offset, count);
    Slice slice(*this);
    slice.data_ = part.data();
    slice.size_ = part.size();
    return slice;
  }

 private:
  struct Block {
    std::atomic<uint32_t> references{1};
    bool holds_string = false;
    char* bytes() { return reinterpret_cast<char*>(this) + kHeaderSize; }
  };
  static constexpr size_t kHeaderSize = 16;

  Slice(Block* block, const char* data, size_t size) : block_(block), data_(data), size_(size) {}
  static Block* NewBlock(size_t size);
  static Block* BlockAt(const char* begin) {
    return reinterpret_cast<Block*>(const_cast<char*>(begin) - kHeaderSize);
  }
  static void Free(Block* block);

  Block* block_ = nullptr;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

inline size_t TotalSize(std::span<const Slice> slices) {
  size_t total = 0;
  for (const auto& slice : slices) total += slice.size();
  return total;
}
std::string Flatten(std::span<const Slice> slices);

}  // namespace keelson
