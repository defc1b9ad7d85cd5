// Building the compiled schema of a 50-field custom resource.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "api/meta_v1.h"
#include "schema/crd.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

std::string FiftyFields() {
  std::string text = R"({"type":"object","properties":{"spec":{"type":"object","properties":{)";
  for (int i = 0; i < 50; ++i) {
    if (i) text += ",";
    text += fmt::format(R"("field{}":{{"description":"what this field is for","type":)", i);
    text += i % 3 == 0 ? R"("string","maxLength":63,"pattern":"^[a-z]+$"})"
            : i % 3 == 1
                ? R"("integer","format":"int32","minimum":0,"default":1})"
                : R"("array","items":{"type":"object","properties":{"a":{"type":"string"}}}})";
  }
  return text + R"(}}}})";
}

void BM_BuildFiftyFieldCrd(benchmark::State& state) {
  const auto document = value::ParseJson(FiftyFields());
  size_t bytes = 0;
  for (auto _ : state) {
    auto crd = BuildCrdType(document->root(), {.object_meta = &api::meta_v1::ObjectMeta::Schema()});
    bytes = crd->bytes();
    benchmark::DoNotOptimize(crd->type);
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_BuildFiftyFieldCrd);

void BM_FindField(benchmark::State& state) {
  const Type& type = api::meta_v1::ObjectMeta::Schema();
  for (auto _ : state)
    for (const Field& field : type.fields()) benchmark::DoNotOptimize(type.Find(field.text()));
  state.SetItemsProcessed(state.iterations() * type.field_count);
}
BENCHMARK(BM_FindField);

}  // namespace
}  // namespace keelson::schema
