#include "profile/heap.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#include "profile/aside.h"
#include "profile/encode.h"
#include "profile/profile.h"
#include "profile/unwind.h"

// Defined by heap_hooks.cc.
extern "C" const bool keelson_heap_hooks __attribute__((weak));

namespace keelson::profile {
namespace internal {
thread_local int64_t bytes_until_sample __attribute__((tls_model("initial-exec"))) = 0;
}  // namespace internal

namespace {

// Memory for the tables themselves; going through operator new would come back here.
template <typename T>
struct MallocAllocator {
  using value_type = T;
  MallocAllocator() = default;
  template <typename U>
  MallocAllocator(const MallocAllocator<U>&) {}  // NOLINT(google-explicit-constructor)
  T* allocate(size_t n) {
    void* memory = std::malloc(n * sizeof(T));  // NOLINT(bugprone-sizeof-expression)
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }
  bool operator==(const MallocAllocator&) const { return true; }
};

struct SiteKey {
  uint32_t depth;
  uint32_t size_class;
  uintptr_t stack[kMaxDepth];

  bool operator<(const SiteKey& other) const {
    if (depth != other.depth) return depth < other.depth;
    if (size_class != other.size_class) return size_class < other.size_class;
    return std::memcmp(stack, other.stack, depth * sizeof(uintptr_t)) < 0;
  }
};

struct SiteCounts {
  int64_t allocated_objects = 0, allocated_bytes = 0, freed_objects = 0, freed_bytes = 0;
};

struct Block {
  SiteCounts* site;
  size_t size;
};

// Two thousand samples per second of a gigabyte allocated: one lock is enough for taking them.
// Deleting looks up every page-aligned pointer, so the blocks have their own, in shards.
struct Table {
  std::mutex sites_mutex;
  std::map<SiteKey, SiteCounts, std::less<>, MallocAllocator<std::pair<const SiteKey, SiteCounts>>>
      sites;  // entries never move and never go

  struct Shard {
    std::mutex mutex;
    std::unordered_map<uintptr_t, Block, std::hash<uintptr_t>, std::equal_to<>,
                       MallocAllocator<std::pair<const uintptr_t, Block>>>
        blocks;
  };
  Shard shards[64];

  Shard& ShardOf(void* block) {
    return shards[reinterpret_cast<uintptr_t>(block) / kSampleAlignment % std::size(shards)];
  }
};

// Lives as long as the process: memory is freed until the very end.
Table& TheTable() {
  alignas(Table) static char storage[sizeof(Table)];
  static Table* const table = new (storage) Table;
  return *table;
}

struct ThreadState {
  uint64_t random = 0;  // zero: not seeded
  bool busy = false;    // inside the slow path
};
thread_local ThreadState state __attribute__((tls_model("initial-exec")));

// Exponentially distributed, so that samples do not fall into step with the program.
int64_t DrawDistance() {
  state.random ^= state.random << 13;
  state.random ^= state.random >> 7;
  state.random ^= state.random << 17;
  double uniform = static_cast<double>((state.random >> 11) + 1) * 0x1.0p-53;
  return static_cast<int64_t>(-std::log(uniform) * static_cast<double>(kSamplePeriod));
}

// Whether the allocation of `size` bytes, counted already, is to be sampled.
bool TakeTurn(size_t size) {
  if (state.busy || internal::bytes_until_sample >= 0) return false;
  bool fresh = state.random == 0;
  if (fresh) {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    state.random = (reinterpret_cast<uintptr_t>(&state) ^ static_cast<uint64_t>(now.tv_nsec)) *
                       0x9e3779b97f4a7c15u |
                   1;
  }
  internal::bytes_until_sample = DrawDistance();
  if (!fresh) return true;
  internal::bytes_until_sample -= static_cast<int64_t>(size);
  return internal::bytes_until_sample < 0;
}

// Eight classes per doubling: enough to estimate from, few enough to bound the table.
uint32_t SizeClass(size_t size) {
  if (size < 16) return static_cast<uint32_t>(size);
  auto bits = static_cast<uint32_t>(63 - __builtin_clzll(size));
  return bits << 3 | (size >> (bits - 3) & 7);
}

void Remember(void* block, size_t size, SiteKey& key) {
  key.size_class = SizeClass(size);
  auto& table = TheTable();
  SiteCounts* site = nullptr;
  {
    std::lock_guard lock(table.sites_mutex);
    site = &table.sites[key];
    ++site->allocated_objects;
    site->allocated_bytes += static_cast<int64_t>(size);
  }
  auto& shard = table.ShardOf(block);
  std::lock_guard lock(shard.mutex);
  shard.blocks[reinterpret_cast<uintptr_t>(block)] = {site, size};
}

void* PlainAllocate(size_t size, size_t alignment) {
  return alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
             ? std::malloc(size == 0 ? 1 : size)
             : std::aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

// Null when memory has run out. Must be inlined: the stack is to begin at operator new's caller.
__attribute__((always_inline)) inline void* SampledAllocate(size_t size, size_t alignment) {
  if (!TakeTurn(size)) return PlainAllocate(size, alignment);
  state.busy = true;
  size_t laid = std::max<size_t>(alignment, kSampleAlignment);
  void* block = std::aligned_alloc(laid, (size + laid - 1) & ~(laid - 1));
  if (block != nullptr) {
    SiteKey key;
    key.depth = static_cast<uint32_t>(UnwindHere(key.stack));
    Remember(block, size, key);
  }
  state.busy = false;
  return block;
}

__attribute__((always_inline)) inline void* SampledAllocateOrThrow(size_t size, size_t alignment) {
  void* block = SampledAllocate(size, alignment);
  while (block == nullptr) {
    auto handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    block = PlainAllocate(size, alignment);
  }
  return block;
}

Result<std::string> Encode(HeapView view) {
  if (!HeapSamplingLinked()) {
    return Fail(ErrorCode::kUnsupported, "this program was linked without heap sampling");
  }
  TRY(auto space, AddressSpace::Read());
  Encoder encoder({{"alloc_objects", "count"},
                   {"alloc_space", "bytes"},
                   {"inuse_objects", "count"},
                   {"inuse_space", "bytes"}});
  for (const auto& site : HeapSites()) {
    auto allocated = Scale(site.allocated_objects, site.allocated_bytes);
    auto in_use =
        Scale(site.allocated_objects - site.freed_objects, site.allocated_bytes - site.freed_bytes);
    const int64_t values[] = {allocated.objects, allocated.bytes, in_use.objects, in_use.bytes};
    encoder.AddSample(site.stack, false, values, site.allocated_bytes / site.allocated_objects);
  }
  encoder.SetPeriod({"space", "bytes"}, kSamplePeriod);
  auto now = std::chrono::system_clock::now().time_since_epoch();
  encoder.SetTimes(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(), 0);
  encoder.SetDefaultSampleType(view == HeapView::kInUse ? "inuse_space" : "alloc_space");
  return encoder.Finish(space);
}

}  // namespace

namespace internal {

__attribute__((noinline)) void* NewSlow(size_t size) {
  return SampledAllocateOrThrow(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
__attribute__((noinline)) void* NewNothrowSlow(size_t size, const std::nothrow_t&) noexcept {
  return SampledAllocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
__attribute__((noinline)) void* NewAlignedSlow(size_t size, std::align_val_t alignment) {
  return SampledAllocateOrThrow(size, static_cast<size_t>(alignment));
}
__attribute__((noinline)) void* NewAlignedNothrowSlow(size_t size, std::align_val_t alignment,
                                                      const std::nothrow_t&) noexcept {
  return SampledAllocate(size, static_cast<size_t>(alignment));
}

void ForgetBlock(void* page_aligned) {
  auto& table = TheTable();
  auto& shard = table.ShardOf(page_aligned);
  Block block{};
  {
    std::lock_guard lock(shard.mutex);
    auto found = shard.blocks.find(reinterpret_cast<uintptr_t>(page_aligned));
    if (found == shard.blocks.end()) return;
    block = found->second;
    shard.blocks.erase(found);
  }
  std::lock_guard lock(table.sites_mutex);
  ++block.site->freed_objects;
  block.site->freed_bytes += static_cast<int64_t>(block.size);
}

}  // namespace internal

bool HeapSamplingLinked() { return &keelson_heap_hooks != nullptr; }

std::vector<HeapSite> HeapSites() {
  auto& table = TheTable();
  std::vector<HeapSite> out;
  // Growing the result inside could sample, and so wait for the lock that is held.
  state.busy = true;
  {
    std::lock_guard lock(table.sites_mutex);
    out.reserve(table.sites.size());
    for (const auto& [key, counts] : table.sites) {
      out.push_back({std::vector<uintptr_t>(key.stack, key.stack + key.depth),
                     counts.allocated_objects, counts.allocated_bytes, counts.freed_objects,
                     counts.freed_bytes});
    }
  }
  state.busy = false;
  return out;
}

HeapEstimate Scale(int64_t count, int64_t bytes) {
  if (count == 0 || bytes == 0) return {};
  double average = static_cast<double>(bytes) / static_cast<double>(count);
  double factor = 1 / (1 - std::exp(-average / static_cast<double>(kSamplePeriod)));
  return {static_cast<int64_t>(static_cast<double>(count) * factor),
          static_cast<int64_t>(static_cast<double>(bytes) * factor)};
}

Task<Result<std::string>> HeapProfile(HeapView view) {
  return RunAside([view] { return Encode(view); });
}

}  // namespace keelson::profile
