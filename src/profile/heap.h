#pragma once

// Heap sampling: which code holds, and has allocated, how much.
//
// Programs that link heap_hooks.cc have their operator new count bytes in a thread-local and take
// a sample, on average, every kSamplePeriod bytes (a Poisson process, as Go's). A sampled block is
// laid on a page boundary: operator delete therefore has to look only at pointers that end in
// twelve zero bits, and the common path of both touches no shared memory.
//
// The table of sampled blocks is the process's own; its memory comes from malloc, never from new.

#include <cstdint>
#include <new>
#include <vector>

#include "base/result.h"

namespace keelson::profile {

inline constexpr int64_t kSamplePeriod = 512 * 1024;
inline constexpr uintptr_t kSampleAlignment = 4096;

// Sampled allocations of one stack and size class; what they stand for is for Scale to say.
struct HeapSite {
  std::vector<uintptr_t> stack;  // return addresses, innermost first
  int64_t allocated_objects = 0;
  int64_t allocated_bytes = 0;
  int64_t freed_objects = 0;
  int64_t freed_bytes = 0;
};
std::vector<HeapSite> HeapSites();

// An estimate of all objects and bytes behind `count` samples of `bytes` together: a block of size
// s is sampled with probability 1 - exp(-s / period).
struct HeapEstimate {
  int64_t objects = 0;
  int64_t bytes = 0;
};
HeapEstimate Scale(int64_t count, int64_t bytes);

// True in programs that link the hooks.
bool HeapSamplingLinked();

namespace internal {

// Bytes this thread may still allocate unsampled. Zero in a new thread, so that its first
// allocation comes by the slow path and draws a real distance.
extern thread_local int64_t bytes_until_sample __attribute__((tls_model("initial-exec")));

// The slow paths of operator new, with the signatures of the operators they are called from, so
// that these can jump instead of call and stay out of the recorded stack.
void* NewSlow(size_t size);
void* NewNothrowSlow(size_t size, const std::nothrow_t&) noexcept;
void* NewAlignedSlow(size_t size, std::align_val_t alignment);
void* NewAlignedNothrowSlow(size_t size, std::align_val_t alignment,
                            const std::nothrow_t&) noexcept;

// Notes the end of a block that may have been sampled. The caller frees it.
void ForgetBlock(void* page_aligned);

}  // namespace internal
}  // namespace keelson::profile
