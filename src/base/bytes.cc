#include "base/bytes.h"

#include <new>

namespace keelson {

Slice::Block* Slice::NewBlock(size_t size) {
  static_assert(sizeof(Block) <= kHeaderSize);
  return new (::operator new(kHeaderSize + size)) Block;
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
  block->~Block();
  ::operator delete(block);
}

std::string Flatten(std::span<const Slice> slices) {
  std::string flat;
  flat.reserve(TotalSize(slices));
  for (const auto& slice : slices) flat += slice.view();
  return flat;
}

}  // namespace keelson
