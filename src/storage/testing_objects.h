#pragma once

// Objects for tests and benchmarks: pods and the like, with facts that point into their JSON.

#include <fmt/format.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/cached_object.h"

namespace keelson::storage::testing {

struct Sample {
  std::string ns = "default";
  std::string name = "a";
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<std::pair<std::string, std::string>> fields;  // name (for the JSON) and value
  std::string data;                                         // padding, part of the object
  std::string uid = "00000000-0000-4000-8000-000000000000";
};

inline ObjectImage MakeImage(const Sample& sample) {
  std::string json = R"({"kind":"Pod","apiVersion":"v1",)";
  ObjectImage image;
  auto& facts = image.facts;
  facts.type_end = static_cast<uint32_t>(json.size());
  struct Span {
    size_t at, size;
  };
  auto put = [&](std::string_view value) {
    Span span{json.size(), value.size()};
    json += value;
    return span;
  };
  json += R"("metadata":{"name":")";
  Span name = put(sample.name);
  json += '"';
  Span ns{0, 0};
  if (!sample.ns.empty()) {
    json += R"(,"namespace":")";
    ns = put(sample.ns);
    json += '"';
  }
  json += R"(,"uid":")";
  Span uid = put(sample.uid);
  json += '"';
  facts.version_at = static_cast<uint32_t>(json.size());
  std::vector<std::pair<Span, Span>> labels;
  if (!sample.labels.empty()) {
    json += R"(,"labels":{)";
    for (const auto& [key, value] : sample.labels) {
      if (json.back() != '{') json += ',';
      json += '"';
      Span k = put(key);
      json += "\":\"";
      labels.emplace_back(k, put(value));
      json += '"';
    }
    json += '}';
  }
  json += R"(},"spec":{)";
  std::vector<Span> fields;
  for (const auto& [key, value] : sample.fields) {
    if (json.back() != '{') json += ',';
    json += '"' + key + "\":\"";
    fields.push_back(put(value));
    json += '"';
  }
  json += R"(},"data":")" + sample.data + "\"}";
  image.json = Slice::Own(std::move(json));
  auto view = [&](Span span) { return image.json.view().substr(span.at, span.size); };
  facts.name = view(name);
  facts.ns = view(ns);
  facts.uid = view(uid);
  for (const auto& [k, v] : labels) facts.labels.push_back({view(k), view(v)});
  for (auto span : fields) facts.fields.push_back(view(span));
  return image;
}

inline ObjectRef MakeObject(const Sample& sample, Revision revision) {
  return *CachedObject::Create(MakeImage(sample), revision);
}

// A pod as a cluster has them: three labels, nine selectable fields, `bytes` of JSON.
inline Sample PodSample(size_t i, size_t bytes) {
  Sample sample{.ns = fmt::format("namespace-{}", i % 100),
                .name = fmt::format("deployment-5d78c9869d-{:07}", i),
                .labels = {{"app", "deployment"},
                           {"pod-template-hash", "5d78c9869d"},
                           {"app.kubernetes.io/part-of", "shop"}},
                .fields = {{"nodeName", fmt::format("node-{}", i % 500)},
                           {"phase", "Running"},
                           {"restartPolicy", "Always"},
                           {"schedulerName", "default-scheduler"},
                           {"serviceAccountName", "default"},
                           {"hostNetwork", "false"},
                           {"podIP", "10.0.0.1"},
                           {"podIPs", "10.0.0.1"},
                           {"nominatedNodeName", ""}}};
  size_t rest = MakeImage(sample).json.size();
  // Text that compresses about as well as objects do.
  static const std::string text = [] {
    std::mt19937_64 random(1);
    std::string t;
    while (t.size() < (64 << 10)) t += fmt::format("field-{:x}=value,", random());
    return t;
  }();
  sample.data = text.substr(i * 7919 % (text.size() / 2), bytes > rest ? bytes - rest : 0);
  return sample;
}

}  // namespace keelson::storage::testing
