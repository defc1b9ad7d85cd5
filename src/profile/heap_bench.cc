// The price of heap sampling: operator new and delete beside malloc and free of the same size.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <new>

namespace {

void MallocFree(benchmark::State& state) {
  auto size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    void* block = std::malloc(size);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
}
BENCHMARK(MallocFree)->Arg(64);

void NewDelete(benchmark::State& state) {
  auto size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    void* block = ::operator new(size);
    benchmark::DoNotOptimize(block);
    ::operator delete(block);
  }
}
BENCHMARK(NewDelete)->Arg(64);

}  // namespace
