#include "kube/pod/resources.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/names.h"

namespace keelson::kube::pod {
namespace {

namespace core = api::core_v1;
using value::Quantity;
using value::Value;

constexpr std::string_view kHugePagesPrefix = "hugepages-";
constexpr std::string_view kCountedResources[] = {"configmaps",
                                                  "persistentvolumeclaims",
                                                  "pods",
                                                  "replicationcontrollers",
                                                  "resourcequotas",
                                                  "secrets",
                                                  "services",
                                                  "services.loadbalancers",
                                                  "services.nodeports"};
constexpr std::string_view kMeasuredResources[] = {
    "cpu",          "memory",          "ephemeral-storage",
    "requests.cpu", "requests.memory", "requests.ephemeral-storage",
    "limits.cpu",   "limits.memory",   "limits.ephemeral-storage",
    "storage",      "requests.storage"};

template <size_t N>
bool Among(std::string_view text, const std::string_view (&values)[N]) {
  return std::find(std::begin(values), std::end(values), text) != std::end(values);
}

Quantity Parse(const Value& text) {
  auto quantity = Quantity::Parse(text.AsString());
  return quantity ? *std::move(quantity) : Quantity();
}

void Add(ResourceAmounts& to, const ResourceAmounts& amounts) {
  for (const auto& [name, amount] : amounts) {
    auto [at, added] = to.try_emplace(name, amount);
    if (!added) at->second.Add(amount);
  }
}

void Raise(ResourceAmounts& to, const ResourceAmounts& amounts) {
  for (const auto& [name, amount] : amounts) {
    auto [at, added] = to.try_emplace(name, amount);
    if (!added && amount.Compare(at->second) > 0) at->second = amount;
  }
}

ResourceAmounts AmountsOf(core::Container container, Demand demand) {
  ResourceAmounts amounts;
  const auto resources = container.resources();
  const Value list =
      demand == Demand::kRequests ? resources.requests().value() : resources.limits().value();
  for (const auto& member : list.members()) amounts.emplace(member.key(), Parse(member.value));
  return amounts;
}

// The two resources that make a pod's class: sums over containers.
struct ClassSums {
  std::array<Quantity, 2> sum;
  std::array<bool, 2> present{};

  bool empty() const { return !present[0] && !present[1]; }
  // Returns whether both were given and positive.
  bool Add(const Value& list) {
    std::array<bool, 2> found{};
    for (const auto& member : list.members()) {
      const size_t i = member.key() == "cpu" ? 0 : member.key() == "memory" ? 1 : 2;
      if (i == 2) continue;
      const Quantity amount = Parse(member.value);
      if (amount.Sign() <= 0) continue;
      found[i] = true;
      if (present[i]) {
        sum[i].Add(amount);
      } else {
        sum[i] = amount;
        present[i] = true;
      }
    }
    return found[0] && found[1];
  }
};

}  // namespace

bool IsHugePages(std::string_view resource) { return resource.starts_with(kHugePagesPrefix); }

bool IsNativeResource(std::string_view resource) {
  return resource.find('/') == std::string_view::npos ||
         resource.find("kubernetes.io/") != std::string_view::npos;
}

bool IsExtendedResource(std::string_view resource) {
  if (IsNativeResource(resource) || resource.starts_with("requests.")) return false;
  return names::CheckQualifiedName("requests." + std::string(resource)).empty();
}

bool IsIntegerResource(std::string_view resource) {
  return Among(resource, kCountedResources) || IsExtendedResource(resource);
}

bool IsStandardResource(std::string_view resource) {
  return Among(resource, kMeasuredResources) || Among(resource, kCountedResources) ||
         IsHugePages(resource) || resource.starts_with("requests.hugepages-");
}

bool IsStandardContainerResource(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
         IsHugePages(resource);
}

bool IsPodLevelResource(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || IsHugePages(resource);
}

ResourceAmounts AggregateContainers(core::PodSpec spec, Demand demand) {
  ResourceAmounts total;
  for (auto container : spec.containers()) Add(total, AmountsOf(container, demand));
  ResourceAmounts sidecars;
  ResourceAmounts initial;
  for (auto container : spec.initContainers()) {
    ResourceAmounts own = AmountsOf(container, demand);
    if (container.restartPolicy() == "Always") {
      Add(total, own);
      Add(sidecars, own);
      Raise(initial, sidecars);
    } else {
      Add(own, sidecars);
      Raise(initial, own);
    }
  }
  Raise(total, initial);
  return total;
}

std::string_view QosClass(core::PodSpec spec) {
  ClassSums requests;
  ClassSums limits;
  bool guaranteed = true;
  if (auto resources = spec.resources()) {
    requests.Add(resources.requests().value());
    if (!resources.limits().empty()) guaranteed = limits.Add(resources.limits().value());
  } else {
    for (const auto& list : {spec.containers(), spec.initContainers()}) {
      for (auto container : list) {
        requests.Add(container.resources().requests().value());
        if (!limits.Add(container.resources().limits().value())) guaranteed = false;
      }
    }
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  for (size_t i = 0; i < 2 && guaranteed; ++i) {
    guaranteed = requests.present[i] == limits.present[i] &&
                 (!requests.present[i] || requests.sum[i].Compare(limits.sum[i]) == 0);
  }
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace keelson::kube::pod
