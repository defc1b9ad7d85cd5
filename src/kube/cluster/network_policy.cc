// NetworkPolicy: which peers pods may talk to.

#include <vector>

#include "api/networking_v1.h"
#include "base/ip_address.h"
#include "base/quote.h"
#include "kube/cluster/kinds.h"
#include "rest/field_checks.h"

namespace keelson::kube::cluster {
namespace {

using api::networking_v1::IPBlock;
using api::networking_v1::NetworkPolicy;
using api::networking_v1::NetworkPolicyPeer;
using api::networking_v1::NetworkPolicyPort;
using api::networking_v1::NetworkPolicySpec;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Forbidden;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

// What an old policy may keep. `old` is false on create.
struct Leniency {
  rest::SelectorLeniency selector;
  NetworkPolicySpec old;
};

void CheckPort(const NetworkPolicyPort& port, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kProtocols[] = {"TCP", "UDP", "SCTP"};
  if (auto protocol = port.protocol()) {
    rest::CheckSupported(*protocol, kProtocols, path.Child("protocol"), errors);
  }
  const Value number = port.port();
  const auto end = port.endPort();
  const Path at_end = path.Child("endPort");
  if (number.is_null()) {
    if (end) {
      errors.push_back(Invalid(at_end, *end, "may not be specified when `port` is not specified"));
    }
  } else if (number.is_string()) {
    if (end) {
      errors.push_back(Invalid(at_end, *end, "may not be specified when `port` is non-numeric"));
    }
    rest::CheckText(number.AsString(), names::CheckPortName, path.Child("port"), errors);
  } else {
    schema::AddComplaints(errors, path.Child("port"), number,
                          names::CheckPortNumber(number.AsInt()));
    if (!end) return;
    if (*end < number.AsInt()) {
      errors.push_back(Invalid(at_end, number, "must be greater than or equal to `port`"));
    }
    schema::AddComplaints(errors, at_end, *end, names::CheckPortNumber(*end));
  }
}

template <typename Visit>
void ForEachBlock(const NetworkPolicySpec& spec, Visit&& visit) {
  for (auto rule : spec.ingress()) {
    for (auto peer : rule.from()) visit(peer.ipBlock());
  }
  for (auto rule : spec.egress()) {
    for (auto peer : rule.to()) visit(peer.ipBlock());
  }
}

// Prefixes that the stored policy has, in whatever form.
bool Has(const NetworkPolicySpec& spec, std::string_view cidr) {
  bool found = false;
  ForEachBlock(spec, [&](const IPBlock& block) {
    found = found || block.cidr() == cidr;
    for (auto except : block.except()) found = found || except == cidr;
  });
  return found;
}

void CheckPrefix(std::string_view cidr, const NetworkPolicySpec& old, const Path& path,
                 FieldErrors& errors) {
  const auto complaints = names::CheckCidr(cidr);
  if (!complaints.empty() && !Has(old, cidr)) {
    schema::AddComplaints(errors, path, cidr, complaints);
  }
}

void CheckBlock(const IPBlock& block, const NetworkPolicySpec& old, const Path& path,
                FieldErrors& errors) {
  if (block.cidr().empty()) {
    errors.push_back(Required(path.Child("cidr"), ""));
    return;
  }
  CheckPrefix(block.cidr(), old, path.Child("cidr"), errors);
  const auto outer = IpPrefix::Parse(block.cidr());
  if (!outer) return;
  const auto excepts = block.except();
  for (size_t i = 0; i < excepts.size(); ++i) {
    const Path at = path.Child("except").Index(i);
    CheckPrefix(excepts[i], old, at, errors);
    const auto inner = IpPrefix::Parse(excepts[i]);
    if (!inner) continue;
    if (!outer->Contains(inner->address) || outer->length >= inner->length) {
      errors.push_back(Invalid(at, excepts[i], "must be a strict subset of `cidr`"));
    }
  }
}

void CheckPeer(const NetworkPolicyPeer& peer, const Leniency& leniency, const Path& path,
               FieldErrors& errors) {
  const bool pods = static_cast<bool>(peer.podSelector());
  const bool namespaces = static_cast<bool>(peer.namespaceSelector());
  const bool block = static_cast<bool>(peer.ipBlock());
  rest::CheckLabelSelector(peer.podSelector().value(), path.Child("podSelector"), errors,
                           leniency.selector);
  rest::CheckLabelSelector(peer.namespaceSelector().value(), path.Child("namespaceSelector"),
                           errors, leniency.selector);
  if (block) CheckBlock(peer.ipBlock(), leniency.old, path.Child("ipBlock"), errors);
  if (!pods && !namespaces && !block) {
    errors.push_back(Required(path, "must specify a peer"));
  } else if (block && (pods || namespaces)) {
    errors.push_back(Forbidden(path, "may not specify both ipBlock and another peer"));
  }
}

template <typename Ports, typename Peers>
void CheckRule(const Ports& ports, const Peers& peers, std::string_view peers_name,
               const Leniency& leniency, const Path& path, FieldErrors& errors) {
  for (size_t i = 0; i < ports.size(); ++i) {
    CheckPort(ports[i], path.Child("ports").Index(i), errors);
  }
  for (size_t i = 0; i < peers.size(); ++i) {
    CheckPeer(peers[i], leniency, path.Child(peers_name).Index(i), errors);
  }
}

void CheckSpec(const NetworkPolicySpec& spec, const Leniency& leniency, FieldErrors& errors) {
  static constexpr std::string_view kTypes[] = {"Ingress", "Egress"};
  const Path path("spec");
  rest::CheckLabelSelector(spec.podSelector().value(), path.Child("podSelector"), errors,
                           leniency.selector);
  const auto ingress = spec.ingress();
  for (size_t i = 0; i < ingress.size(); ++i) {
    CheckRule(ingress[i].ports(), ingress[i].from(), "from", leniency,
              path.Child("ingress").Index(i), errors);
  }
  const auto egress = spec.egress();
  for (size_t i = 0; i < egress.size(); ++i) {
    CheckRule(egress[i].ports(), egress[i].to(), "to", leniency, path.Child("egress").Index(i),
              errors);
  }
  const auto types = spec.policyTypes();
  const Path at = path.Child("policyTypes");
  if (types.size() > std::size(kTypes)) {
    errors.push_back(Invalid(at, types.value(), "may not specify more than two policyTypes"));
    return;
  }
  for (size_t i = 0; i < types.size(); ++i) {
    rest::CheckSupported(types[i], kTypes, at.Index(i), errors);
  }
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckSpec(NetworkPolicy(object).spec(), {}, errors);
}

void ValidateUpdate(const WriteScope&, const Value& object, const Value& old, FieldErrors& errors) {
  const auto before = NetworkPolicy(old).spec();
  const bool bad_values = !rest::IsUsableSelector(before.podSelector().value());
  CheckSpec(NetworkPolicy(object).spec(), {.selector = {.bad_values = bad_values}, .old = before},
            errors);
}

// A prefix that names an address inside it could mean either.
void WarnAboutPrefix(std::string_view cidr, const Path& path, std::vector<std::string>& warnings) {
  const auto prefix = IpPrefix::Parse(cidr);
  if (!prefix) return;
  const auto at = path.ToString();
  const auto network = prefix->ToString();
  if (prefix->address != prefix->address.Masked(prefix->length)) {
    warnings.push_back(fmt::format(
        "{}: CIDR value {} is ambiguous in this context (should be {} or {}?)", at, Quote(cidr),
        Quote(network),
        Quote(fmt::format("{}/{}", prefix->address.ToString(), prefix->address.bits()))));
  }
}

void WarnAboutPeers(const Value& rules, std::string_view rules_name, std::string_view peers_name,
                    std::vector<std::string>& warnings) {
  const Path spec("spec");
  for (size_t i = 0; i < rules.items().size(); ++i) {
    const Value peers = rules.items()[i][peers_name];
    const Path at_peers = spec.Child(rules_name).Index(i).Child(peers_name);
    for (size_t j = 0; j < peers.items().size(); ++j) {
      const IPBlock block = NetworkPolicyPeer(peers.items()[j]).ipBlock();
      if (!block) continue;
      const Path path = at_peers.Index(j).Child("ipBlock");
      WarnAboutPrefix(block.cidr(), path.Child("cidr"), warnings);
      for (size_t k = 0; k < block.except().size(); ++k) {
        WarnAboutPrefix(block.except()[k], path.Child("except").Index(k), warnings);
      }
    }
  }
}

std::vector<std::string> Warnings(const WriteScope&, const Value& object, const Value*) {
  std::vector<std::string> warnings;
  const auto spec = NetworkPolicy(object).spec();
  WarnAboutPeers(spec.ingress().value(), "ingress", "from", warnings);
  WarnAboutPeers(spec.egress().value(), "egress", "to", warnings);
  return warnings;
}

}  // namespace

Rules kNetworkPolicy({.counts_generation = true,
                      .validate = Validate,
                      .validate_update = ValidateUpdate,
                      .warnings = Warnings});

}  // namespace keelson::kube::cluster
