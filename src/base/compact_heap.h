#pragma once

// Memory for many blocks that are kept for long: what watch caches hold.
//
// General allocators round sizes up to one of four classes per power of two, which wastes an eighth
// on average: 130 bytes of an object of one kilobyte, 250 of one of three. Here a chunk of 256 KiB
// holds blocks of one size, and the sizes are those that divide a chunk: a block of one kilobyte
// wastes 8 bytes, one of three 30. The price is more sizes, each with a chunk of its own, so small
// collections are better off elsewhere. Blocks below 512 bytes and above 16 KiB are not taken.
//
// Any thread; a mutex per size. A block may be freed on another thread than made it. Empty chunks
// go back to the allocator, except for one per size.

#include <cstddef>

namespace keelson {

class CompactHeap {
 public:
  // nullptr when blocks of this size are not taken. Aligned to 8 bytes.
  static void* Allocate(size_t size);
  static void Free(void* block);

  // Bytes that a block of this size takes up.
  static size_t Footprint(size_t size);
};

// As long as one of these lives, the Slices that this thread makes have their blocks in the compact
// heap. May be nested.
class MakeSlicesCompact {
 public:
  explicit MakeSlicesCompact(bool wanted = true);
  ~MakeSlicesCompact();
  MakeSlicesCompact(const MakeSlicesCompact&) = delete;
  MakeSlicesCompact& operator=(const MakeSlicesCompact&) = delete;

  static bool Wanted();

 private:
  const bool outer_;
};

}  // namespace keelson
