// IPAddress and ServiceCIDR: the addresses that are taken, and the ranges they are taken from.

#include "api/networking_v1.h"
#include "base/ip_address.h"
#include "kube/service/kinds.h"
#include "kube/service/service_fields.h"

namespace keelson::kube::service {
namespace {

namespace networking = api::networking_v1;

names::Complaints NameIsIp(std::string_view name, bool) { return names::CheckCanonicalIp(name); }

void ValidateAddress(const WriteScope&, const Value& object, FieldErrors& errors) {
  const auto parent = networking::IPAddress(object).spec().parentRef();
  const Path spec("spec");
  const Path path = spec.Child("parentRef");
  if (!parent) {
    errors.push_back(Required(path, ""));
    return;
  }
  if (!parent.group().empty()) {
    rest::CheckText(parent.group(), names::CheckDns1123Subdomain, path.Child("group"), errors);
  }
  auto check = [&](std::string_view field, std::string_view text, bool required) {
    if (!text.empty()) {
      rest::CheckText(text, names::CheckPathSegment, path.Child(field), errors);
    } else if (required) {
      errors.push_back(Required(path.Child(field), ""));
    }
  };
  check("resource", parent.resource(), true);
  check("name", parent.name(), true);
  check("namespace", parent.namespace_(), false);
}

void ValidateAddressUpdate(const WriteScope& scope, const Value& object, const Value& old,
                           FieldErrors& errors) {
  ValidateAddress(scope, object, errors);
  const Value parent = networking::IPAddress(object).spec().parentRef().value();
  if (parent != networking::IPAddress(old).spec().parentRef().value()) {
    errors.push_back(Immutable(Path("spec").Child("parentRef"), parent));
  }
}

void CheckRanges(const networking::ServiceCIDRSpec& spec, FieldErrors& errors) {
  const auto ranges = spec.cidrs();
  const Path root("spec");
  const Path path = root.Child("cidrs");
  if (ranges.empty()) {
    errors.push_back(Required(path, "at least one CIDR required"));
    return;
  }
  if (ranges.size() > 2) {
    errors.push_back(Invalid(path, spec.value(), "may only hold up to 2 values"));
    return;
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    rest::CheckText(ranges[i], names::CheckCanonicalCidr, path.Index(i), errors);
  }
  if (ranges.size() < 2) return;
  const auto first = IpPrefix::Parse(ranges[0]);
  const auto second = IpPrefix::Parse(ranges[1]);
  if (first && second && first->address.family() == second->address.family()) {
    errors.push_back(Invalid(path, ranges.value(),
                             "may specify no more than one IP for each IP family, i.e "
                             "192.168.0.0/24 and 2001:db8::/64"));
  }
}

void ValidateRange(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckRanges(networking::ServiceCIDR(object).spec(), errors);
}

// Ranges stay; one of the other family may be added.
void ValidateRangeUpdate(const WriteScope&, const Value& object, const Value& stored,
                         FieldErrors& errors) {
  const auto spec = networking::ServiceCIDR(object).spec();
  const auto now = spec.cidrs();
  const auto before = networking::ServiceCIDR(stored).spec().cidrs();
  const Path root("spec");
  const Path path = root.Child("cidrs");
  const bool grows = before.size() == 1 && now.size() == 2;
  if (now.size() != before.size() && !grows) {
    errors.push_back(Immutable(path, now.value()));
    return;
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (now[i] != before[i]) errors.push_back(Immutable(path.Index(i), now[i]));
  }
  if (grows) CheckRanges(spec, errors);
}

}  // namespace

constinit const rest::KindRules kIpAddressRules = {
    .name_check = NameIsIp,
    .validate = ValidateAddress,
    .validate_update = ValidateAddressUpdate,
};

constinit const rest::KindRules kServiceCidrRules = {
    .prepare_status = rest::KeepMetadata,
    .validate = ValidateRange,
    .validate_update = ValidateRangeUpdate,
};

}  // namespace keelson::kube::service
