// IPAddress and ServiceCIDR: where the addresses of services come from.

#include "api/networking_v1.h"
#include "base/ip_address.h"
#include "kube/cluster/kinds.h"
#include "kube/cluster/references.h"
#include "rest/field_checks.h"
#include "schema/internal_form.h"

namespace keelson::kube::cluster {
namespace {

using api::networking_v1::IPAddress;
using api::networking_v1::IPAddressSpec;
using api::networking_v1::ServiceCIDR;
using api::networking_v1::ServiceCIDRSpec;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

names::Complaints NameIsIp(std::string_view name, bool) { return names::CheckCanonicalIp(name); }

void ValidateAddress(const WriteScope&, const Value& object, FieldErrors& errors) {
  const auto parent = IPAddress(object).spec().parentRef();
  const Path spec("spec");
  const Path path = spec.Child("parentRef");
  if (!parent) {
    errors.push_back(Required(path, ""));
    return;
  }
  if (!parent.group().empty()) {
    rest::CheckText(parent.group(), names::CheckDns1123Subdomain, path.Child("group"), errors);
  }
  CheckRequiredSegment(parent.resource(), path.Child("resource"), errors);
  CheckRequiredSegment(parent.name(), path.Child("name"), errors);
  rest::CheckText(parent.namespace_(), names::CheckPathSegment, path.Child("namespace"), errors);
}

void ValidateAddressUpdate(const WriteScope& scope, const Value& object, const Value& old,
                           FieldErrors& errors) {
  ValidateAddress(scope, object, errors);
  rest::CheckImmutableField(IPAddressSpec::Schema(), IPAddressSpec::Names::parentRef,
                            IPAddress(object).spec().value(), IPAddress(old).spec().value(),
                            Path("spec"), errors);
}

void CheckPrefixes(const ServiceCIDRSpec& spec, FieldErrors& errors) {
  const Path root("spec");
  const Path path = root.Child("cidrs");
  const auto cidrs = spec.cidrs();
  if (cidrs.empty()) {
    errors.push_back(Required(path, "at least one CIDR required"));
    return;
  }
  if (cidrs.size() > 2) {
    errors.push_back(Invalid(path,
                             schema::InternalBadValue(ServiceCIDRSpec::Schema(), spec.value()),
                             "may only hold up to 2 values"));
    return;
  }
  for (size_t i = 0; i < cidrs.size(); ++i) {
    rest::CheckText(cidrs[i], names::CheckCanonicalCidr, path.Index(i), errors);
  }
  if (cidrs.size() < 2) return;
  const auto first = IpPrefix::Parse(cidrs[0]);
  const auto second = IpPrefix::Parse(cidrs[1]);
  if (first && second && first->address.family() == second->address.family()) {
    errors.push_back(Invalid(path, cidrs.value(),
                             "may specify no more than one IP for each IP family, i.e "
                             "192.168.0.0/24 and 2001:db8::/64"));
  }
}

void ValidateRange(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckPrefixes(ServiceCIDR(object).spec(), errors);
}

// A range may gain the other family; apart from that it is fixed.
void ValidateRangeUpdate(const WriteScope&, const Value& object, const Value& old,
                         FieldErrors& errors) {
  const auto now = ServiceCIDR(object).spec().cidrs();
  const auto before = ServiceCIDR(old).spec().cidrs();
  const Path root("spec");
  const Path path = root.Child("cidrs");
  const bool grows = before.size() == 1 && now.size() == 2;
  if (now.size() != before.size() && !grows) {
    errors.push_back(schema::Immutable(path, now.value()));
    return;
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (now[i] != before[i]) errors.push_back(schema::Immutable(path.Index(i), now[i]));
  }
  if (grows) CheckPrefixes(ServiceCIDR(object).spec(), errors);
}

}  // namespace

Rules kIpAddress({.name_check = NameIsIp,
                  .validate = ValidateAddress,
                  .validate_update = ValidateAddressUpdate});

Rules kServiceCidr({.prepare_status = rest::KeepMetadata,
                    .validate = ValidateRange,
                    .validate_update = ValidateRangeUpdate});

}  // namespace keelson::kube::cluster
