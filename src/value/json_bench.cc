// Parsing to a tree and writing it again, on a pod as kubelets see it.

#include <benchmark/benchmark.h>

#include "value/json.h"
#include "value/pod_sample.h"

namespace keelson::value {
namespace {

void BM_ParseJson(benchmark::State& state) {
  for (auto _ : state) {
    auto doc = ParseJson(kPodSample);
    benchmark::DoNotOptimize(doc);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kPodSample.size()));
}
BENCHMARK(BM_ParseJson);

void BM_WriteJson(benchmark::State& state) {
  auto doc = ParseJson(kPodSample);
  std::string out;
  for (auto _ : state) {
    out.clear();
    AppendJson(out, doc->root());
    benchmark::DoNotOptimize(out);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * out.size()));
}
BENCHMARK(BM_WriteJson);

}  // namespace
}  // namespace keelson::value
