// CPU of patching and of keeping managed fields, on the sizes the project's figures are about.

#include <benchmark/benchmark.h>

#include "api/catalog.h"
#include "patch/merge_patch.h"
#include "patch/ownership.h"
#include "value/json.h"
#include "value/pod_sample.h"

namespace keelson::patch {
namespace {

using value::Builder;
using value::Document;

const Ownership& OwnershipOf(std::string_view kind) {
  static const auto make = [](std::string_view name) {
    OwnershipOptions options;
    options.type = api::kCatalog.Find("", "v1")->FindKind(name);
    options.kind = {"", "v1", name};
    return Ownership(options);
  };
  static const Ownership pods = make("Pod");
  static const Ownership config_maps = make("ConfigMap");
  return kind == "Pod" ? pods : config_maps;
}

WallTime Now() { return WallTime(std::chrono::seconds(1767225600)); }

// The pod as its creator sends it, defaulted.
Document NewPod() {
  Builder builder(*value::ParseJson(value::kPodSample));
  auto metadata = builder.root().Field("metadata");
  metadata.RemoveField("managedFields");
  metadata.RemoveField("uid");
  return std::move(builder).Finish();
}

// 1.4 KB of JSON without its managed fields.
Document StoredConfigMap() {
  Builder builder;
  auto root = builder.root();
  root.SetField("kind", value::Value::String("ConfigMap"));
  root.SetField("apiVersion", value::Value::String("v1"));
  auto metadata = root.Field("metadata");
  metadata.SetField("name", value::Value::String("settings"));
  metadata.SetField("namespace", value::Value::String("bench"));
  auto data = root.Field("data");
  for (int i = 0; i < 10; ++i) {
    data.SetField(fmt::format("key-{}", i), builder.String(std::string(110, 'x')));
  }
  Document object = std::move(builder).Finish();
  const Ownership& ownership = OwnershipOf("ConfigMap");
  Builder stored(ownership.Update(ownership.NewObject(), object, "bench", Now()));
  stored.root().Field("metadata").SetField("uid", value::Value::String("u"));
  return *value::ParseJson(value::ToJson(std::move(stored).Finish().root()));
}

void BM_ManagedFieldsOfCreatedPod(benchmark::State& state) {
  const Ownership& ownership = OwnershipOf("Pod");
  Document pod = NewPod();
  for (auto _ : state) {
    benchmark::DoNotOptimize(ownership.Update(ownership.NewObject(), pod, "bench", Now()));
  }
}
BENCHMARK(BM_ManagedFieldsOfCreatedPod);

void BM_ManagedFieldsOfUpdatedPod(benchmark::State& state) {
  const Ownership& ownership = OwnershipOf("Pod");
  Document live = *value::ParseJson(value::kPodSample);
  std::string changed(value::kPodSample);
  changed.replace(changed.find(":v1.2.3"), 7, ":v1.2.4");
  Document pod = *value::ParseJson(changed);
  for (auto _ : state) {
    benchmark::DoNotOptimize(ownership.Update(live, pod, "kubectl", Now()));
  }
}
BENCHMARK(BM_ManagedFieldsOfUpdatedPod);

void BM_MergePatchOfConfigMap(benchmark::State& state) {
  const Ownership& ownership = OwnershipOf("ConfigMap");
  Document live = StoredConfigMap();
  Document patch = *value::ParseJson(R"({"data":{"key-3":"changed"}})");
  for (auto _ : state) {
    auto patched = ApplyMergePatch(live, patch);
    benchmark::DoNotOptimize(ownership.Update(live, *patched, "bench", Now()));
  }
}
BENCHMARK(BM_MergePatchOfConfigMap);

void BM_ApplyPodAgain(benchmark::State& state) {
  const Ownership& ownership = OwnershipOf("Pod");
  Document config = NewPod();
  Document live = *ownership.Apply(ownership.NewObject(), config, "bench", false, Now());
  for (auto _ : state) {
    benchmark::DoNotOptimize(ownership.Apply(live, config, "bench", false, Now()));
  }
}
BENCHMARK(BM_ApplyPodAgain);

}  // namespace
}  // namespace keelson::patch
