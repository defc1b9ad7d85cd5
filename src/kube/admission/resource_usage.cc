#include "kube/admission/resource_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/core_v1.h"
#include "kube/pod/resources.h"

namespace keelson::kube::plugins {
namespace {

namespace core = api::core_v1;
using keelson::admission::Operation;
using keelson::admission::Request;
using value::Quantity;
using value::Value;

constexpr std::string_view kPodNames[] = {"count/pods",
                                          "cpu",
                                          "memory",
                                          "ephemeral-storage",
                                          "requests.cpu",
                                          "requests.memory",
                                          "requests.ephemeral-storage",
                                          "limits.cpu",
                                          "limits.memory",
                                          "limits.ephemeral-storage",
                                          "pods"};
constexpr std::string_view kServiceNames[] = {"count/services", "services", "services.nodeports",
                                              "services.loadbalancers"};
constexpr std::string_view kClaimNames[] = {"count/persistentvolumeclaims",
                                            "persistentvolumeclaims", "requests.storage"};
constexpr std::string_view kByClass = ".storageclass.storage.k8s.io/";
// Resources that were counted under their plain names first.
constexpr std::string_view kPlainNames[] = {"configmaps", "resourcequotas",
                                            "replicationcontrollers", "secrets"};

template <size_t N>
bool Among(std::string_view text, const std::string_view (&values)[N]) {
  return std::find(std::begin(values), std::end(values), text) != std::end(values);
}

Quantity Parse(std::string_view text) {
  auto quantity = Quantity::Parse(text);
  return quantity ? *std::move(quantity) : Quantity();
}

bool IsPod(const Request& request) { return request.IsFor("", "pods"); }

std::string CountName(const Request& request) {
  if (request.info->group.empty()) return fmt::format("count/{}", request.resource);
  return fmt::format("count/{}.{}", request.resource, request.info->group);
}

void AddRequests(Usage& usage, std::string_view resource, const Quantity& amount) {
  if (resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
      pod::IsHugePages(resource)) {
    usage[std::string(resource)] = amount;
    usage["requests." + std::string(resource)] = amount;
  } else if (pod::IsExtendedResource(resource)) {
    usage["requests." + std::string(resource)] = amount;
  }
}

void AddLimits(Usage& usage, std::string_view resource, const Quantity& amount) {
  if (resource == "cpu" || resource == "memory" || resource == "ephemeral-storage") {
    usage["limits." + std::string(resource)] = amount;
  }
}

// What the containers need, what the pod as a whole says instead, and what its runtime needs.
pod::ResourceAmounts PodAmounts(core::PodSpec spec, pod::Demand demand) {
  auto amounts = pod::AggregateContainers(spec, demand);
  const auto resources = spec.resources();
  const Value own =
      demand == pod::Demand::kRequests ? resources.requests().value() : resources.limits().value();
  for (const auto& member : own.members()) {
    if (pod::IsPodLevelResource(member.key())) {
      amounts.insert_or_assign(member.key(), Parse(member.value.AsString()));
    }
  }
  for (auto [resource, text] : spec.overhead()) {
    const auto found = amounts.find(resource);
    if (found != amounts.end() && !found->second.IsZero()) {
      found->second.Add(Parse(text));
    } else if (demand == pod::Demand::kRequests) {
      amounts.insert_or_assign(resource, Parse(text));
    }
  }
  return amounts;
}

Usage PodUsage(const Value& object) {
  Usage usage;
  usage["count/pods"] = Quantity(1);
  const auto phase = object["status"]["phase"].AsString();
  if (phase == "Failed" || phase == "Succeeded") return usage;
  usage["pods"] = Quantity(1);
  const core::PodSpec spec(object["spec"]);
  for (const auto& [resource, amount] : PodAmounts(spec, pod::Demand::kRequests)) {
    AddRequests(usage, resource, amount);
  }
  for (const auto& [resource, amount] : PodAmounts(spec, pod::Demand::kLimits)) {
    AddLimits(usage, resource, amount);
  }
  return usage;
}

Usage ServiceUsage(const Value& object) {
  const core::ServiceSpec spec(object["spec"]);
  const auto ports = static_cast<int64_t>(spec.ports().size());
  int64_t node_ports = 0;
  if (spec.type() == "NodePort") node_ports = ports;
  if (spec.type() == "LoadBalancer") {
    node_ports = ports;
    if (spec.allocateLoadBalancerNodePorts() == false) {
      node_ports = 0;
      for (auto port : spec.ports()) node_ports += port.nodePort() != 0 ? 1 : 0;
    }
  }
  Usage usage;
  usage["count/services"] = Quantity(1);
  usage["services"] = Quantity(1);
  usage["services.nodeports"] = Quantity(node_ports);
  usage["services.loadbalancers"] = Quantity(spec.type() == "LoadBalancer" ? 1 : 0);
  return usage;
}

Usage ClaimUsage(const Value& object) {
  Usage usage;
  usage["count/persistentvolumeclaims"] = Quantity(1);
  usage["persistentvolumeclaims"] = Quantity(1);
  const Value* annotation =
      object["metadata"]["annotations"].Find("volume.beta.kubernetes.io/storage-class");
  const std::string storage_class(annotation ? annotation->AsString()
                                             : object["spec"]["storageClassName"].AsString());
  const Value storage = object["spec"]["resources"]["requests"]["storage"];
  if (storage.is_string()) usage["requests.storage"] = Parse(storage.AsString());
  if (!storage_class.empty()) {
    usage[storage_class + std::string(kByClass) + "persistentvolumeclaims"] = Quantity(1);
    if (storage.is_string()) {
      usage[storage_class + std::string(kByClass) + "requests.storage"] = Parse(storage.AsString());
    }
  }
  return usage;
}

bool CountsPod(std::string_view name) {
  if (Among(name, kPodNames) || pod::IsHugePages(name) || name.starts_with("requests.hugepages-")) {
    return true;
  }
  return name.starts_with("requests.") && !pod::IsNativeResource(name);
}

bool HasDeadline(const Value& pod) { return !pod["spec"]["activeDeadlineSeconds"].is_null(); }

bool CrossesNamespaces(const Value& pod) {
  for (std::string_view sort : {"podAffinity", "podAntiAffinity"}) {
    const Value affinity = pod["spec"]["affinity"][sort];
    auto crosses = [](const Value& term) {
      return !term["namespaces"].items().empty() || !term["namespaceSelector"].is_null();
    };
    for (const Value& term : affinity["requiredDuringSchedulingIgnoredDuringExecution"].items()) {
      if (crosses(term)) return true;
    }
    for (const Value& term : affinity["preferredDuringSchedulingIgnoredDuringExecution"].items()) {
      if (crosses(term["podAffinityTerm"])) return true;
    }
  }
  return false;
}

bool ClassMatches(std::string_view name, const Value& selector) {
  const auto op = selector["operator"].AsString();
  const auto values = selector["values"].items();
  const bool listed =
      std::ranges::any_of(values, [&](const Value& value) { return value.AsString() == name; });
  if (op == "Exists") return !name.empty();
  if (op == "DoesNotExist") return name.empty();
  if (op == "In") return !name.empty() && listed;
  return op == "NotIn" && !(!name.empty() && listed);
}

bool PodInScope(const Value& pod, std::string_view scope, const Value& selector) {
  const bool best_effort = pod::QosClass(core::PodSpec(pod["spec"])) == "BestEffort";
  if (scope == "Terminating") return HasDeadline(pod);
  if (scope == "NotTerminating") return !HasDeadline(pod);
  if (scope == "BestEffort") return best_effort;
  if (scope == "NotBestEffort") return !best_effort;
  if (scope == "CrossNamespacePodAffinity") return CrossesNamespaces(pod);
  if (scope != "PriorityClass") return false;
  const auto name = pod["spec"]["priorityClassName"].AsString();
  return selector.is_null() ? !name.empty() : ClassMatches(name, selector);
}

}  // namespace

bool ChangesUsage(const Request& request) {
  const bool create = request.operation == Operation::kCreate;
  const bool update = request.operation == Operation::kUpdate;
  if (IsPod(request)) {
    if (request.subresource == "resize") return update;
    if (!request.subresource.empty()) return false;
    return create || (update && HasDeadline(request.object) != HasDeadline(request.old_object));
  }
  if (!request.subresource.empty()) return false;
  if (request.IsFor("", "services") || request.IsFor("", "persistentvolumeclaims")) {
    return create || update;
  }
  return create && !request.IsFor("", "events") && !request.IsFor("events.k8s.io", "events");
}

Usage UsageOf(const Request& request, const Value& object) {
  if (IsPod(request)) return PodUsage(object);
  if (request.IsFor("", "services")) return ServiceUsage(object);
  if (request.IsFor("", "persistentvolumeclaims")) return ClaimUsage(object);
  Usage usage;
  usage[CountName(request)] = Quantity(1);
  if (request.info->group.empty() && Among(request.resource, kPlainNames)) {
    usage[std::string(request.resource)] = Quantity(1);
  }
  return usage;
}

std::vector<std::string_view> CountedNames(const Request& request, const Value& hard) {
  std::vector<std::string_view> names;
  const std::string count = CountName(request);
  for (const auto& member : hard.members()) {
    const auto name = member.key();
    bool counted = name == count;
    if (IsPod(request)) {
      counted = CountsPod(name);
    } else if (request.IsFor("", "services")) {
      counted = Among(name, kServiceNames);
    } else if (request.IsFor("", "persistentvolumeclaims")) {
      counted = Among(name, kClaimNames) || name.find(kByClass) != std::string_view::npos;
    } else if (request.info->group.empty() && Among(request.resource, kPlainNames)) {
      counted = counted || name == request.resource;
    }
    if (counted) names.push_back(name);
  }
  return names;
}

std::string MissingAmounts(const Request& request, const Value& object,
                           const std::vector<std::string_view>& counted) {
  static constexpr std::string_view kRequired[] = {
      "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"};
  const core::PodSpec spec(object["spec"]);
  if (!IsPod(request)) return {};
  if (!spec.resources().requests().empty() || !spec.resources().limits().empty()) return {};
  std::map<std::string_view, std::set<std::string_view>> missing;
  for (const auto& list : {spec.containers(), spec.initContainers()}) {
    for (auto container : list) {
      Usage says;
      for (auto [resource, text] : container.resources().requests()) {
        AddRequests(says, resource, Parse(text));
      }
      for (auto [resource, text] : container.resources().limits()) {
        AddLimits(says, resource, Parse(text));
      }
      for (auto name : counted) {
        if (Among(name, kRequired) && !says.contains(name)) missing[name].insert(container.name());
      }
    }
  }
  if (missing.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& [name, containers] : missing) {
    parts.push_back(fmt::format("{} for: {}", name, fmt::join(containers, ",")));
  }
  return fmt::format("must specify {}", fmt::join(parts, "; "));
}

bool InScope(const Request& request, const Value& object, const Value& quota) {
  const Value spec = quota["spec"];
  const bool is_pod = IsPod(request);
  for (const Value& scope : spec["scopes"].items()) {
    if (!is_pod || !PodInScope(object, scope.AsString(), Value())) return false;
  }
  for (const Value& selector : spec["scopeSelector"]["matchExpressions"].items()) {
    if (!is_pod || !PodInScope(object, selector["scopeName"].AsString(), selector)) return false;
  }
  return true;
}

}  // namespace keelson::kube::plugins
