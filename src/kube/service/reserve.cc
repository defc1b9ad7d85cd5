// What a service takes before it is stored: addresses of the cluster, ports on the nodes.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/service/families.h"
#include "kube/service/holding.h"
#include "kube/service/service.h"
#include "kube/service/service_fields.h"

namespace keelson::kube::service {
namespace {

using Names = v1::ServiceSpec::Names;

v1::ServiceSpec View(Ref spec) { return v1::ServiceSpec(spec.Get()); }

Status InvalidService(std::string_view name, schema::FieldError error) {
  return schema::InvalidStatus("", "Service", name, {std::move(error)});
}

// Ports to be taken in one go, and where each of them goes.
struct PortPlan {
  static constexpr size_t kHealthCheck = SIZE_MAX;
  struct Use {
    size_t port;  // index of a service port, or kHealthCheck
    size_t slot;  // which of `wanted`
  };
  PortAllocator::Ports wanted;
  std::vector<size_t> asker;  // per wanted port, the service port that an error is about
  std::vector<Use> uses;

  size_t Want(size_t port, int number) {
    wanted.push_back(number);
    asker.push_back(port);
    uses.push_back({port, wanted.size() - 1});
    return wanted.size() - 1;
  }
};

bool AllocatesNodePorts(const v1::ServiceSpec& spec) {
  return spec.type() == "NodePort" ||
         (IsLoadBalancer(spec) && spec.allocateLoadBalancerNodePorts().value_or(true));
}

int RequestedFor(const v1::ServiceSpec& spec, int32_t port) {
  for (const auto other : spec.ports()) {
    if (other.port() == port && other.nodePort() != 0) return other.nodePort();
  }
  return 0;
}

// Ports of a new service. Service ports of one number, for different protocols, share a node port
// unless they ask for different ones.
void PlanNewPorts(const v1::ServiceSpec& spec, PortPlan& plan) {
  std::map<int32_t, size_t> slots;
  for (size_t i = 0; i < spec.ports().size(); ++i) {
    const v1::ServicePort port = spec.ports()[i];
    if (port.nodePort() == 0 && !AllocatesNodePorts(spec)) continue;
    const auto known = slots.find(port.port());
    if (known == slots.end()) {
      slots[port.port()] = plan.Want(i, RequestedFor(spec, port.port()));
    } else if (port.nodePort() == 0) {
      plan.uses.push_back({i, known->second});
    } else if (port.nodePort() != plan.wanted[known->second]) {
      plan.Want(i, port.nodePort());
    }
  }
}

bool Uses(const v1::ServiceSpec& spec, int32_t node_port) {
  return std::ranges::any_of(spec.ports(),
                             [&](const auto& port) { return port.nodePort() == node_port; });
}

void PlanChangedPorts(const v1::ServiceSpec& spec, const v1::ServiceSpec& old, PortPlan& plan) {
  for (size_t i = 0; i < spec.ports().size(); ++i) {
    const int32_t number = spec.ports()[i].nodePort();
    if (number == 0) {
      if (AllocatesNodePorts(spec)) plan.Want(i, 0);
    } else if (!Uses(old, number) && std::ranges::find(plan.wanted, number) == plan.wanted.end()) {
      plan.Want(i, number);
    }
  }
}

Status PortRefused(const v1::ServiceSpec& spec, std::string_view service, const PortPlan& plan,
                   const PortAllocator::Refusal& refusal) {
  const size_t port = plan.asker[refusal.index];
  const int number = plan.wanted[refusal.index];
  if (port == PortPlan::kHealthCheck) {
    return InternalErrorStatus(fmt::format("failed to allocate {} HealthCheck NodePort {}: {}",
                                           number == 0 ? "a" : "requested", number,
                                           refusal.message));
  }
  if (refusal.exhausted) {
    return InternalErrorStatus("failed to allocate a nodePort: " + refusal.message);
  }
  return InvalidService(service, Invalid(Path("spec").Child("ports").Index(port).Child("nodePort"),
                                         number, refusal.message));
}

// Addresses of the families that have none yet, or that were asked for by number.
struct WantedAddress {
  size_t index;  // in clusterIPs and ipFamilies
  std::string text;
};

// What a change needs and what it no longer does. Nothing of either is the usual case.
void PlanAddresses(const v1::ServiceSpec& spec, const v1::ServiceSpec* old,
                   std::vector<WantedAddress>& wanted, std::vector<std::string>& released) {
  if (old != nullptr && KeepsPreferredFamilies(spec, old)) return;
  const bool anew = old == nullptr || IsExternalName(*old);
  if (anew) {
    if (IsExternalName(spec) || (!spec.clusterIPs().empty() && spec.clusterIPs()[0] == kNone)) {
      return;
    }
    for (size_t i = 0; i < spec.ipFamilies().size(); ++i) {
      wanted.push_back({i, i < spec.clusterIPs().size() ? std::string(spec.clusterIPs()[i]) : ""});
    }
    return;
  }
  const auto before = old->clusterIPs();
  if (!before.empty() && before[0] == kNone) return;
  if (IsExternalName(spec)) {
    for (const auto address : before) released.emplace_back(address);
  } else if (old->ipFamilies().size() == 1 && spec.ipFamilies().size() == 2) {
    wanted.push_back({1, spec.clusterIPs().size() < 2 ? "" : std::string(spec.clusterIPs()[1])});
  } else if (old->ipFamilies().size() == 2 && spec.ipFamilies().size() == 1 && before.size() > 1) {
    released.emplace_back(before[1]);
  }
}

}  // namespace

Task<ApiResult<void>> ServiceStrategy::ReserveAddresses(const Target& target, Ref spec,
                                                        const Value* old, Holding& holding) const {
  const auto old_spec = old != nullptr ? v1::Service(*old).spec() : v1::ServiceSpec();
  std::vector<WantedAddress> wanted;
  std::vector<std::string> released;
  PlanAddresses(View(spec), old != nullptr ? &old_spec : nullptr, wanted, released);
  for (const auto& text : released) {
    if (auto address = IpAddress::Parse(text)) holding.ReleaseLater(*address);
  }
  if (wanted.empty()) co_return ApiResult<void>();

  const auto given = View(spec).clusterIPs();
  std::vector<std::string> addresses(given.begin(), given.end());
  addresses.resize(std::max(addresses.size(), wanted.back().index + 1));
  for (const auto& want : wanted) {
    std::string& text = addresses[want.index];
    auto refused = [&](std::string why) {
      return InvalidService(target.owner.name,
                            Invalid(Path("spec").Child("clusterIPs"),
                                    Texts(spec.builder(), addresses), std::move(why)));
    };
    if (text.empty()) {
      const auto family = View(spec).ipFamilies()[want.index] == kIPv6 ? IpAddress::Family::kV6
                                                                       : IpAddress::Family::kV4;
      auto taken = co_await addresses_.TakeAny(family, target.owner, target.dry_run);
      if (!taken && taken.error().exhausted) {
        co_return std::unexpected(
            InternalErrorStatus(fmt::format("failed to allocate a serviceIP for Service \"{}\": {}",
                                            target.owner.name, taken.error().message)));
      }
      if (!taken) {
        co_return std::unexpected(refused("failed to allocate IP: " + taken.error().message));
      }
      text = taken->ToString();
      holding.Took(*taken);
    } else {
      const auto address = IpAddress::Parse(text);
      if (!address) {
        co_return std::unexpected(
            InternalErrorStatus(fmt::format("failed to parse service IP \"{}\"", text)));
      }
      auto taken = co_await addresses_.Take(*address, target.owner, target.dry_run);
      if (!taken) {
        co_return std::unexpected(
            refused(fmt::format("failed to allocate IP {}: {}", text, taken.error().message)));
      }
      holding.Took(*address);
    }
  }
  spec.SetField(Names::clusterIPs, Texts(spec.builder(), addresses));
  spec.SetField(Names::clusterIP, spec.builder().String(addresses[0]));
  co_return ApiResult<void>();
}

Task<ApiResult<void>> ServiceStrategy::ReservePorts(const Target& target, Ref spec,
                                                    const Value* old, Holding& holding) const {
  const auto view = View(spec);
  PortPlan plan;
  bool new_health_check = NeedsHealthCheck(view);
  if (old == nullptr) {
    if (UsesNodePorts(view)) PlanNewPorts(view, plan);
  } else {
    const auto before = v1::Service(*old).spec();
    if (UsesNodePorts(view)) PlanChangedPorts(view, before, plan);
    if (UsesNodePorts(before) &&
        (UsesNodePorts(view) || view.type() == "ClusterIP" || IsExternalName(view))) {
      for (const auto port : before.ports()) {
        const bool kept = UsesNodePorts(view) && Uses(view, port.nodePort());
        if (port.nodePort() != 0 && !kept) holding.ReleaseLater(port.nodePort());
      }
    }
    if (NeedsHealthCheck(before)) {
      if (!new_health_check) holding.ReleaseLater(before.healthCheckNodePort());
      new_health_check = false;
    }
  }
  if (new_health_check) plan.Want(PortPlan::kHealthCheck, view.healthCheckNodePort());
  if (plan.wanted.empty()) co_return ApiResult<void>();

  auto taken = co_await ports_.Take(plan.wanted, target.dry_run);
  if (!taken) {
    co_return std::unexpected(PortRefused(view, target.owner.name, plan, taken.error()));
  }
  for (const int port : *taken) holding.Took(port);
  for (const auto& use : plan.uses) {
    const Value number = Value::Int((*taken)[use.slot]);
    if (use.port == PortPlan::kHealthCheck) {
      spec.SetField(Names::healthCheckNodePort, number);
    } else {
      spec.Field(Names::ports).Item(use.port).SetField(v1::ServicePort::Names::nodePort, number);
    }
  }
  co_return ApiResult<void>();
}

Task<ApiResult<rest::ReservationPtr>> ServiceStrategy::Reserve(const WriteScope& scope, Ref object,
                                                               const Value* old) const {
  Ref spec = object.Field(v1::Service::Names::spec);
  const auto old_spec = old != nullptr ? v1::Service(*old).spec() : v1::ServiceSpec();
  const v1::ServiceSpec* before = old != nullptr ? &old_spec : nullptr;
  const auto metadata = v1::Service(object.Get()).metadata();
  const Target target{{std::string(metadata.namespace_()), std::string(metadata.name())},
                      scope.dry_run};
  spec = object.Field(v1::Service::Names::spec);
  if (before != nullptr) KeepAllocated(spec, *before);
  NormalizeClusterIps(spec, before);
  if (auto resolved = ResolveFamilies(spec, before, target.owner.name, addresses_); !resolved) {
    co_return std::unexpected(std::move(resolved).error());
  }
  auto holding = std::make_unique<Holding>(*this, scope.dry_run);
  if (auto ok = co_await ReserveAddresses(target, spec, old, *holding); !ok) {
    co_return std::unexpected(std::move(ok).error());
  }
  if (auto ok = co_await ReservePorts(target, spec, old, *holding); !ok) {
    co_return std::unexpected(std::move(ok).error());
  }
  co_return rest::ReservationPtr(std::move(holding));
}

}  // namespace keelson::kube::service
