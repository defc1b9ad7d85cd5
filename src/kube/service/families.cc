#include "kube/service/families.h"

#include <algorithm>
#include <string>
#include <vector>

namespace keelson::kube::service {
namespace {

using Names = v1::ServiceSpec::Names;
using List = schema::ListView<std::string_view>;

v1::ServiceSpec View(Ref spec) { return v1::ServiceSpec(spec.Get()); }

std::vector<std::string> Copy(List list) { return {list.begin(), list.end()}; }

// Upstream's "reduced": fewer than before, and the first still the same.
bool Reduced(List now, List before) {
  return !now.empty() && now.size() < before.size() && now[0] == before[0];
}

IpAddress::Family FamilyOf(std::string_view name) {
  return name == kIPv6 ? IpAddress::Family::kV6 : IpAddress::Family::kV4;
}

void DefaultPolicy(Ref spec, const v1::ServiceSpec* old) {
  const auto view = View(spec);
  if (view.ipFamilyPolicy()) return;
  if (old != nullptr && old->ipFamilyPolicy()) {
    spec.SetField(Names::ipFamilyPolicy, old->value()[Names::ipFamilyPolicy]);
    return;
  }
  // Nobody knows what the endpoints of a headless service without selector will be.
  const bool unknown = view.clusterIP() == kNone && view.selector().empty();
  spec.SetField(Names::ipFamilyPolicy,
                Value::String(unknown ? kRequireDualStack : kSingleStack, /*plain=*/true));
}

void CheckReduced(Ref spec, const v1::ServiceSpec& old, FieldErrors& errors) {
  const auto view = View(spec);
  const auto policy = view.ipFamilyPolicy().value_or("");
  if (policy == kSingleStack) {
    // As long as the lists are as they were, the policy says what to do.
    if (SameClusterIps(old, view) && view.clusterIPs().size() > 1) {
      spec.SetField(Names::clusterIPs,
                    Texts(spec.builder(), {{std::string(view.clusterIPs()[0])}}));
    }
    if (SameFamilies(old, view) && view.ipFamilies().size() > 1) {
      spec.SetField(Names::ipFamilies,
                    Texts(spec.builder(), {{std::string(view.ipFamilies()[0])}}));
    }
    return;
  }
  const Path path("spec");
  if (Reduced(view.clusterIPs(), old.clusterIPs())) {
    errors.push_back(Invalid(path.Child("ipFamilyPolicy"), policy,
                             "must be 'SingleStack' to release the secondary cluster IP"));
  }
  if (Reduced(view.ipFamilies(), old.ipFamilies())) {
    errors.push_back(Invalid(path.Child("ipFamilyPolicy"), policy,
                             "must be 'SingleStack' to release the secondary IP family"));
  }
}

void CheckSingleStack(const v1::ServiceSpec& spec, FieldErrors& errors) {
  if (spec.ipFamilyPolicy() != kSingleStack) return;
  const Path path("spec");
  auto refuse = [&](const char* what) {
    errors.push_back(Invalid(path.Child("ipFamilyPolicy"), kSingleStack,
                             fmt::format("must be 'RequireDualStack' or 'PreferDualStack' when "
                                         "multiple {} are specified",
                                         what)));
  };
  if (spec.clusterIPs().size() == 2) refuse("cluster IPs");
  if (spec.ipFamilies().size() == 2) refuse("IP families");
}

// Addresses that were given tell their families.
void InferFamilies(Ref spec, const AddressAllocator& addresses, FieldErrors& errors) {
  const auto view = View(spec);
  auto families = Copy(view.ipFamilies());
  const auto given = view.clusterIPs();
  for (size_t i = 0; i < given.size() && given[i] != kNone; ++i) {
    if (i < families.size()) continue;
    const auto address = IpAddress::Parse(given[i]);
    if (!address) continue;
    const auto name = FamilyName(address->family());
    if (!addresses.Has(address->family())) {
      errors.push_back(Invalid(Path("spec").Child("clusterIPs").Index(i), given.value(),
                               fmt::format("{} is not configured on this cluster", name)));
    } else {
      families.emplace_back(name);
    }
  }
  if (families.size() > view.ipFamilies().size()) {
    spec.SetField(Names::ipFamilies, Texts(spec.builder(), families));
  }
}

void CheckConfigured(const v1::ServiceSpec& spec, const AddressAllocator& addresses,
                     FieldErrors& errors) {
  const Path path("spec");
  if (spec.ipFamilyPolicy() == kRequireDualStack && addresses.families() < 2) {
    errors.push_back(Invalid(path.Child("ipFamilyPolicy"), kRequireDualStack,
                             "this cluster is not configured for dual-stack services"));
  }
  const auto families = spec.ipFamilies();
  const Path list = path.Child("ipFamilies");
  for (size_t i = 0; i < families.size(); ++i) {
    if (addresses.Has(FamilyOf(families[i]))) continue;
    errors.push_back(Invalid(list.Index(i), families[i], "not configured on this cluster"));
  }
}

}  // namespace

Value Texts(value::Builder& builder, std::span<const std::string> texts) {
  std::vector<Value> items;
  items.reserve(texts.size());
  for (const auto& text : texts) items.push_back(builder.String(text));
  return builder.List(items);
}

void NormalizeClusterIps(Ref spec, const v1::ServiceSpec* old) {
  const auto view = View(spec);
  auto follow_single = [&] {
    spec.SetField(Names::clusterIPs, Texts(spec.builder(), {{std::string(view.clusterIP())}}));
  };
  if (old == nullptr) {
    if (!view.clusterIP().empty() && view.clusterIPs().empty()) follow_single();
    return;
  }
  const bool same_single = view.clusterIP() == old->clusterIP();
  const bool same_plural = view.clusterIPs().value() == old->clusterIPs().value();
  if (!old->clusterIPs().empty() && view.clusterIPs().empty() && same_single) {
    spec.SetField(Names::clusterIPs, old->clusterIPs().value());
  }
  // Upstream compares both fields where it means the list, so a change of the single one alone is
  // followed only if the list was left as it was.
  if (same_single || !same_plural) return;
  if (view.clusterIP().empty()) {
    spec.RemoveField(Names::clusterIPs);
  } else {
    follow_single();
  }
}

void KeepAllocated(Ref spec, const v1::ServiceSpec& old) {
  const auto view = View(spec);
  if (!IsExternalName(old) && !IsExternalName(view)) {
    if (view.clusterIP().empty() && !old.clusterIP().empty()) {
      spec.SetField(Names::clusterIP, old.value()[Names::clusterIP]);
    }
    if (view.clusterIPs().empty() && !old.clusterIPs().empty()) {
      spec.SetField(Names::clusterIPs, old.clusterIPs().value());
    }
  }
  auto takes_ports = [](const v1::ServiceSpec& service) {
    return service.type() == "NodePort" ||
           (IsLoadBalancer(service) && service.allocateLoadBalancerNodePorts().value_or(true));
  };
  if (takes_ports(old) && takes_ports(view)) {
    auto uses = [](const v1::ServiceSpec& service, int32_t port) {
      return std::ranges::any_of(service.ports(),
                                 [&](const auto& other) { return other.nodePort() == port; });
    };
    for (size_t i = 0; i < view.ports().size(); ++i) {
      if (view.ports()[i].nodePort() != 0) continue;
      int32_t before = 0;
      for (const auto port : old.ports()) {
        if (port.name() == view.ports()[i].name()) before = port.nodePort();
      }
      if (before == 0 || uses(view, before)) continue;
      spec.Field(Names::ports)
          .Item(i)
          .SetField(v1::ServicePort::Names::nodePort, Value::Int(before));
    }
  }
  if (NeedsHealthCheck(old) && NeedsHealthCheck(view) && view.healthCheckNodePort() == 0) {
    spec.SetField(Names::healthCheckNodePort, old.value()[Names::healthCheckNodePort]);
  }
}

bool KeepsPreferredFamilies(const v1::ServiceSpec& spec, const v1::ServiceSpec* old) {
  return old != nullptr && spec.ipFamilyPolicy() == kPreferDualStack &&
         old->ipFamilyPolicy().value_or(kPreferDualStack) == kPreferDualStack &&
         spec.type() == old->type() && !IsExternalName(spec) && SameClusterIps(spec, *old) &&
         SameFamilies(spec, *old);
}

ApiResult<void> ResolveFamilies(Ref spec, const v1::ServiceSpec* old, std::string_view service,
                                const AddressAllocator& addresses) {
  if (IsExternalName(View(spec)) || KeepsPreferredFamilies(View(spec), old)) return {};
  FieldErrors errors;
  auto refused = [&]() -> ApiResult<void> {
    return std::unexpected(schema::InvalidStatus("", "Service", service, errors));
  };
  DefaultPolicy(spec, old);
  CheckClusterIps(View(spec), old, errors);
  if (!errors.empty()) return refused();
  if (old != nullptr) CheckReduced(spec, *old, errors);
  CheckSingleStack(View(spec), errors);
  InferFamilies(spec, addresses, errors);
  if (!errors.empty()) return refused();

  const auto view = View(spec);
  const bool any_endpoints = view.clusterIP() == kNone && view.selector().empty();
  if (!any_endpoints) {
    CheckConfigured(view, addresses, errors);
    if (!errors.empty()) return refused();
  }
  auto families = Copy(view.ipFamilies());
  if (families.empty()) families.emplace_back(FamilyName(addresses.default_family()));
  const bool wants_both =
      view.ipFamilyPolicy() != kSingleStack && (any_endpoints || addresses.families() == 2);
  if (wants_both && families.size() == 1) families.emplace_back(OtherFamily(families[0]));
  if (families.size() != view.ipFamilies().size()) {
    spec.SetField(Names::ipFamilies, Texts(spec.builder(), families));
  }
  return {};
}

}  // namespace keelson::kube::service
