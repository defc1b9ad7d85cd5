#include "value/arena.h"

#include <algorithm>
#include <new>

namespace keelson::value {
namespace {
constexpr size_t kMinBlock = 2048;
constexpr size_t kMaxBlock = size_t{1} << 20;
}  // namespace

ArenaRef Arena::Make(size_t size_hint) {
  constexpr size_t kOverhead = sizeof(Block) + ((sizeof(Arena) + 7) & ~size_t{7});
  size_t size = std::max(size_hint + kOverhead, kMinBlock);
  auto* raw = static_cast<char*>(::operator new(size));
  auto* block = new (raw) Block{nullptr};
  auto* arena = new (raw + sizeof(Block)) Arena;
  arena->blocks_ = block;
  arena->next_ = raw + kOverhead;
  arena->end_ = raw + size;
  arena->reserved_ = size;
  return ArenaRef(arena);
}

void* Arena::AllocateSlow(size_t size) {
  // Blocks double, so a tree of any size takes few of them; what outgrows a block gets its own.
  size_t wanted = std::clamp(reserved_, kMinBlock, kMaxBlock);
  size_t block_size = std::max(wanted, size + sizeof(Block));
  auto* raw = static_cast<char*>(::operator new(block_size));
  blocks_ = new (raw) Block{blocks_};
  reserved_ += block_size;
  char* result = raw + sizeof(Block);
  char* rest = result + size;
  char* rest_end = raw + block_size;
  if (rest_end - rest > end_ - next_) {
    next_ = rest;
    end_ = rest_end;
  }
  return result;
}

void Arena::Borrow(const ArenaRef& other) {
  if (!other || other.arena_ == this) return;
  if (std::find(arenas_.begin(), arenas_.end(), other) == arenas_.end()) arenas_.push_back(other);
}

void Arena::Borrow(Slice bytes) { bytes_.push_back(std::move(bytes)); }

void Arena::Destroy(Arena* arena) {
  Block* block = arena->blocks_;
  // The members own references of their own; the rest is plain memory.
  auto arenas = std::move(arena->arenas_);
  auto bytes = std::move(arena->bytes_);
  std::destroy_at(&arena->arenas_);
  std::destroy_at(&arena->bytes_);
  while (block) {
    Block* previous = block->previous;
    ::operator delete(block);
    block = previous;
  }
}

}  // namespace keelson::value
