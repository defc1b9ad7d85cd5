// What a write costs in codecs: a 3.4 KB pod through decoding, defaulting, validation and encoding.

#include <benchmark/benchmark.h>

#include "api/core_v1.h"
#include "schema/decode_json.h"
#include "schema/protobuf.h"
#include "schema/transform.h"
#include "schema/validate.h"
#include "value/json.h"
#include "value/pod_sample.h"

namespace keelson::schema {
namespace {

const Type& Pod() { return api::core_v1::Pod::Schema(); }

void BM_DecodePodJson(benchmark::State& state) {
  for (auto _ : state) {
    auto pod = DecodeJson(Pod(), value::kPodSample, {.strict = true});
    benchmark::DoNotOptimize(pod);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * value::kPodSample.size()));
}
BENCHMARK(BM_DecodePodJson);

void BM_EncodePodJson(benchmark::State& state) {
  auto pod = DecodeJson(Pod(), value::kPodSample);
  std::string out;
  for (auto _ : state) {
    out.clear();
    value::AppendJson(out, pod->object.root());
    benchmark::DoNotOptimize(out);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * out.size()));
}
BENCHMARK(BM_EncodePodJson);

// The whole codec part of a write: strict decoding, defaults, the structural rules, the bytes.
void BM_WritePod(benchmark::State& state) {
  for (auto _ : state) {
    auto pod = DecodeJson(Pod(), value::kPodSample, {.strict = true});
    ApplyDefaults(Pod(), pod->object);
    FieldErrors errors = ValidateStructure(Pod(), pod->object.root());
    Append(errors, ValidateListTypes(Pod(), pod->object.root()));
    std::string out = value::ToJson(pod->object.root());
    benchmark::DoNotOptimize(out);
    benchmark::DoNotOptimize(errors);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * value::kPodSample.size()));
}
BENCHMARK(BM_WritePod);

void BM_EncodePodProtobuf(benchmark::State& state) {
  auto pod = DecodeJson(Pod(), value::kPodSample);
  size_t size = 0;
  for (auto _ : state) {
    std::string out = EncodeProtobufEnvelope(Pod(), pod->object.root());
    size = out.size();
    benchmark::DoNotOptimize(out);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * size));
}
BENCHMARK(BM_EncodePodProtobuf);

void BM_DecodePodProtobuf(benchmark::State& state) {
  auto pod = DecodeJson(Pod(), value::kPodSample);
  std::string bytes = EncodeProtobufEnvelope(Pod(), pod->object.root());
  for (auto _ : state) {
    auto back = DecodeProtobufEnvelope(Pod(), bytes);
    benchmark::DoNotOptimize(back);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(BM_DecodePodProtobuf);

}  // namespace
}  // namespace keelson::schema
