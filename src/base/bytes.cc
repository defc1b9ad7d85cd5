#include "base/bytes.h"

#include <new>

#include "base/compact_heap.h"

namespace keelson {
namespace {

// The last byte of a block's header tells where its memory comes from.
constexpr size_t kOriginAt = 15;
enum Origin : char { kAllocator, kCompactHeap };

}  // namespace

Slice::Block* Slice::NewBlock(size_t size) {
  static_assert(sizeof(Block) <= kOriginAt && kOriginAt < kHeaderSize);
  void* memory = nullptr;
  if (MakeSlicesCompact::Wanted()) memory = CompactHeap::Allocate(kHeaderSize + size);
  const char origin = memory != nullptr ? kCompactHeap : kAllocator;
  if (memory == nullptr) memory = ::operator new(kHeaderSize + size);
  static_cast<char*>(memory)[kOriginAt] = origin;
  return new (memory) Block;
}

Slice Slice::Copy(std::string_view bytes) {
  return Make(bytes.size(), [&](char* out) { bytes.copy(out, bytes.size()); });
}

Slice Slice::Own(std::string bytes) {
  Block* block = NewBlock(sizeof(std::string));
  block->holds_string = true;
  auto* held = new (block->bytes()) std::string(std::move(bytes));
  return Slice(block, held->data(), held->size());
}

void Slice::Free(Block* block) {
  using std::string;
  if (block->holds_string) reinterpret_cast<string*>(block->bytes())->~string();
  const char origin = reinterpret_cast<const char*>(block)[kOriginAt];
  block->~Block();
  if (origin == kCompactHeap) {
    CompactHeap::Free(block);
  } else {
    ::operator delete(block);
  }
}

std::string Flatten(std::span<const Slice> slices) {
  std::string flat;
  flat.reserve(TotalSize(slices));
  for (const auto& slice : slices) flat += slice.view();
  return flat;
}

}  // namespace keelson
