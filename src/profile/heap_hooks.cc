// The replaced global operators new and delete. An object file of its own, not part of the
// library: a program gets it by being linked with it (keelson_app), and sanitizer builds, which
// bring their own operators, do without.

#include <cstdlib>
#include <new>

#include "profile/heap.h"

using keelson::profile::kSampleAlignment;
namespace slow = keelson::profile::internal;

extern "C" const bool keelson_heap_hooks = true;

namespace {

inline bool Due(size_t size) {
  return (slow::bytes_until_sample -= static_cast<int64_t>(size)) < 0;
}

inline void Free(void* block) {
  if ((reinterpret_cast<uintptr_t>(block) & (kSampleAlignment - 1)) == 0 && block != nullptr)
      [[unlikely]] {
    slow::ForgetBlock(block);
  }
  std::free(block);
}

// Memory has run out: let the installed handler make some, or give up, as the standard asks.
__attribute__((noinline)) void* Insist(size_t size) {
  for (;;) {
    auto handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    if (void* block = std::malloc(size == 0 ? 1 : size)) return block;
  }
}

}  // namespace

void* operator new(size_t size) {
  if (Due(size)) [[unlikely]]
    [[clang::musttail]] return slow::NewSlow(size);
  void* block = std::malloc(size);
  if (block == nullptr) [[unlikely]]
    return Insist(size);
  return block;
}
void* operator new[](size_t size) {
  if (Due(size)) [[unlikely]]
    [[clang::musttail]] return slow::NewSlow(size);
  void* block = std::malloc(size);
  if (block == nullptr) [[unlikely]]
    return Insist(size);
  return block;
}
void* operator new(size_t size, const std::nothrow_t& tag) noexcept {
  if (Due(size)) [[unlikely]]
    return slow::NewNothrowSlow(size, tag);
  return std::malloc(size);
}
void* operator new[](size_t size, const std::nothrow_t& tag) noexcept {
  if (Due(size)) [[unlikely]]
    return slow::NewNothrowSlow(size, tag);
  return std::malloc(size);
}

// (The compiler cannot promise a jump out of a noexcept function, but makes one.)

// Over-aligned allocation is rare: always by the slow path, which samples in its turn.
void* operator new(size_t size, std::align_val_t alignment) {
  slow::bytes_until_sample -= static_cast<int64_t>(size);
  [[clang::musttail]] return slow::NewAlignedSlow(size, alignment);
}
void* operator new[](size_t size, std::align_val_t alignment) {
  slow::bytes_until_sample -= static_cast<int64_t>(size);
  [[clang::musttail]] return slow::NewAlignedSlow(size, alignment);
}
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
  slow::bytes_until_sample -= static_cast<int64_t>(size);
  return slow::NewAlignedNothrowSlow(size, alignment, tag);
}
void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
  slow::bytes_until_sample -= static_cast<int64_t>(size);
  return slow::NewAlignedNothrowSlow(size, alignment, tag);
}

void operator delete(void* block) noexcept { Free(block); }
void operator delete[](void* block) noexcept { Free(block); }
void operator delete(void* block, size_t) noexcept { Free(block); }
void operator delete[](void* block, size_t) noexcept { Free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { Free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { Free(block); }
void operator delete(void* block, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { Free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { Free(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { Free(block); }
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  Free(block);
}
