#include <benchmark/benchmark.h>

#include "base/metrics.h"

namespace keelson::metrics {
namespace {

void BM_CounterAdd(benchmark::State& state) {
  static Registry registry;
  auto& counter = registry.NewCounter({.name = "n", .help = ""});
  for (auto _ : state) counter.Add();
}
BENCHMARK(BM_CounterAdd)->Threads(1)->Threads(2);

void BM_HistogramObserve(benchmark::State& state) {
  static Registry registry;
  auto& histogram =
      registry.NewHistogram({.name = "h", .help = ""}, ExponentialBuckets(1e-4, 2, 20));
  for (auto _ : state) histogram.Observe(3e-4);
}
BENCHMARK(BM_HistogramObserve)->Threads(1)->Threads(2);

}  // namespace
}  // namespace keelson::metrics
