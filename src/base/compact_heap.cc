#include "base/compact_heap.h"

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace keelson {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr size_t kLeast = 512;
constexpr size_t kMost = size_t{16} << 10;
constexpr size_t kAlignment = 8;

// A sanitizer sees more when every block is an allocation of its own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEELSON_EACH_BLOCK_ALONE 1
#endif
#endif
#ifdef KEELSON_EACH_BLOCK_ALONE
constexpr bool kTakesBlocks = false;
#else
constexpr bool kTakesBlocks = true;
#endif

// Stands at the start of its memory, which is aligned to its size, so that a block finds it.
struct alignas(64) Chunk {
  uint32_t block_bytes;
  uint32_t blocks;
  uint32_t live = 0;
  uint32_t untouched = 0;  // the first block never handed out
  struct FreeBlock {
    FreeBlock* next;
  };
  FreeBlock* free = nullptr;
  // Among those of its size that have room.
  Chunk* next = nullptr;
  Chunk* previous = nullptr;

  bool full() const { return live == blocks; }
  char* begin() { return reinterpret_cast<char*>(this) + sizeof(Chunk); }
};
constexpr size_t kUsable = kChunkBytes - sizeof(Chunk);

// All chunks with blocks of one size; those without room are on no list.
struct SizeClass {
  std::mutex mutex;
  Chunk* with_room = nullptr;

  void Link(Chunk* chunk) {
    chunk->previous = nullptr;
    chunk->next = with_room;
    if (with_room != nullptr) with_room->previous = chunk;
    with_room = chunk;
  }
  void Unlink(Chunk* chunk) {
    (chunk->previous != nullptr ? chunk->previous->next : with_room) = chunk->next;
    if (chunk->next != nullptr) chunk->next->previous = chunk->previous;
  }
};

// A size is named by how many blocks of it fit into a chunk. Never destroyed: blocks outlive
// everything.
SizeClass& ClassOf(size_t blocks) {
  static auto* classes = new SizeClass[kUsable / kLeast + 1];
  return classes[blocks];
}

size_t BlocksFor(size_t size) {
  return kUsable / ((size + kAlignment - 1) / kAlignment * kAlignment);
}
size_t BlockBytes(size_t blocks) { return kUsable / blocks / kAlignment * kAlignment; }

Chunk* NewChunk(size_t blocks) {
  void* memory = std::aligned_alloc(kChunkBytes, kChunkBytes);
  if (memory == nullptr) throw std::bad_alloc();
  auto* chunk = new (memory) Chunk;
  chunk->blocks = static_cast<uint32_t>(blocks);
  chunk->block_bytes = static_cast<uint32_t>(BlockBytes(blocks));
  return chunk;
}

thread_local bool t_compact = false;

}  // namespace

void* CompactHeap::Allocate(size_t size) {
  if (!kTakesBlocks || size < kLeast || size > kMost) return nullptr;
  const size_t blocks = BlocksFor(size);
  auto& sizes = ClassOf(blocks);
  std::lock_guard lock(sizes.mutex);
  if (sizes.with_room == nullptr) sizes.Link(NewChunk(blocks));
  Chunk* chunk = sizes.with_room;
  void* block = chunk->free;
  if (block != nullptr) {
    chunk->free = chunk->free->next;
  } else {
    block = chunk->begin() + size_t{chunk->untouched++} * chunk->block_bytes;
  }
  ++chunk->live;
  if (chunk->full()) sizes.Unlink(chunk);
  return block;
}

void CompactHeap::Free(void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  auto* chunk = reinterpret_cast<Chunk*>(address & ~(kChunkBytes - 1));
  auto& sizes = ClassOf(chunk->blocks);
  Chunk* unused = nullptr;
  {
    std::lock_guard lock(sizes.mutex);
    if (chunk->full()) sizes.Link(chunk);
    chunk->free = new (block) Chunk::FreeBlock{chunk->free};
    if (--chunk->live == 0 && (chunk->next != nullptr || chunk->previous != nullptr)) {
      sizes.Unlink(chunk);
      unused = chunk;
    }
  }
  std::free(unused);
}

size_t CompactHeap::Footprint(size_t size) {
  if (!kTakesBlocks || size < kLeast || size > kMost) return size;
  return kUsable / BlocksFor(size);
}

MakeSlicesCompact::MakeSlicesCompact(bool wanted) : outer_(std::exchange(t_compact, wanted)) {}
MakeSlicesCompact::~MakeSlicesCompact() { t_compact = outer_; }
bool MakeSlicesCompact::Wanted() { return t_compact; }

}  // namespace keelson
