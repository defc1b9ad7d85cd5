// The rules for the four fields that say which cluster addresses a service has.

#include <algorithm>
#include <iterator>

#include "base/ip_address.h"
#include "kube/service/service_fields.h"

namespace keelson::kube::service {
namespace {

constexpr std::string_view kFamilies[] = {kIPv4, kIPv6};
constexpr std::string_view kPolicies[] = {kPreferDualStack, kRequireDualStack, kSingleStack};

bool IsV6(std::string_view text) {
  const auto address = IpAddress::Parse(text);
  return address && !address->is_v4();
}

bool Contains(schema::ListView<std::string_view> list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

void CheckFirstAddress(const v1::ServiceSpec& spec, const Path& path, FieldErrors& errors) {
  const auto addresses = spec.clusterIPs();
  if (spec.clusterIP().empty()) {
    if (!addresses.empty()) {
      errors.push_back(
          Invalid(path, addresses.value(), "must be empty when `clusterIP` is not specified"));
    }
  } else if (addresses.empty()) {
    errors.push_back(Required(path, ""));
  } else if (addresses[0] != spec.clusterIP()) {
    errors.push_back(Invalid(path, addresses.value(), "first value must match `clusterIP`"));
  }
}

void CheckFamilies(const v1::ServiceSpec& spec, const Path& path, FieldErrors& errors) {
  const auto families = spec.ipFamilies();
  for (size_t i = 0; i < families.size(); ++i) {
    rest::CheckSupported(families[i], kFamilies, path.Index(i), errors);
    for (size_t j = 0; j < i; ++j) {
      if (families[j] != families[i]) continue;
      errors.push_back(schema::Duplicate(path.Index(i), families[i]));
      break;
    }
  }
}

// False when an address makes no sense by itself.
bool CheckAddresses(const v1::ServiceSpec& spec, const v1::ServiceSpec* old, const Path& path,
                    FieldErrors& errors) {
  const auto addresses = spec.clusterIPs();
  bool valid = true;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (i == 0 && addresses[i] == kNone) {
      if (addresses.size() == 1) continue;
      valid = false;
      errors.push_back(Invalid(path, addresses.value(), "'None' must be the first and only value"));
      continue;
    }
    // What was good enough once still is.
    if (old != nullptr && Contains(old->clusterIPs(), addresses[i])) continue;
    if (auto complaints = names::CheckIp(addresses[i]); !complaints.empty()) {
      valid = false;
      schema::AddComplaints(errors, path.Index(i), addresses[i], complaints);
    }
  }
  if (addresses.size() > 2) {
    errors.push_back(Invalid(path, addresses.value(), "may only hold up to 2 values"));
  }
  return valid;
}

void CheckAgainstFamilies(const v1::ServiceSpec& spec, const Path& path, FieldErrors& errors) {
  if (IsHeadless(spec)) return;
  const auto addresses = spec.clusterIPs();
  const auto families = spec.ipFamilies();
  for (size_t i = 0; i < std::min(addresses.size(), families.size()); ++i) {
    const bool v6 = IsV6(addresses[i]);
    if ((families[i] == kIPv4 && v6) || (families[i] == kIPv6 && !v6)) {
      errors.push_back(Invalid(
          path.Index(i), addresses[i],
          fmt::format("expected an {} value as indicated by `ipFamilies[{}]`", families[i], i)));
    }
  }
}

// How two lists of which the first item may never change relate.
void CheckKeptList(schema::ListView<std::string_view> now,
                   schema::ListView<std::string_view> before, const Path& path, const Value& shown,
                   FieldErrors& errors) {
  if (now.empty() || before.empty() || now[0] == before[0]) return;
  errors.push_back(Invalid(path.Index(0), shown, "may not change once set"));
}

void CheckReleasePolicy(const v1::ServiceSpec& spec, const char* why, FieldErrors& errors) {
  const auto policy = spec.ipFamilyPolicy();
  if (policy == kSingleStack) return;
  const Path path("spec");
  if (policy) {
    errors.push_back(Invalid(path.Child("ipFamilyPolicy"), *policy, why));
  } else {
    errors.push_back(Invalid(path.Child("ipFamilyPolicy"), Value(), why));
  }
}

void CheckAddressesUpdate(const v1::ServiceSpec& spec, const v1::ServiceSpec& old,
                          FieldErrors& errors) {
  if (IsHeadless(spec) && IsHeadless(old)) return;
  const Path root("spec");
  const Path path = root.Child("clusterIPs");
  const auto now = spec.clusterIPs();
  const auto before = old.clusterIPs();
  if (now.size() == before.size()) {
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i] != before[i]) {
        errors.push_back(Invalid(path.Index(i), now.value(), "may not change once set"));
      }
    }
    return;
  }
  if (now.empty()) {
    errors.push_back(Invalid(path.Index(0), now.value(), "primary clusterIP can not be unset"));
  }
  CheckKeptList(now, before, path, now.value(), errors);
  if (before.size() > now.size() && now.size() == 1) {
    CheckReleasePolicy(spec, "must be set to 'SingleStack' when releasing the secondary clusterIP",
                       errors);
  }
}

void CheckFamiliesUpdate(const v1::ServiceSpec& spec, const v1::ServiceSpec& old,
                         FieldErrors& errors) {
  if (IsHeadless(spec) || IsHeadless(old)) return;
  const Path root("spec");
  const Path path = root.Child("ipFamilies");
  const auto now = spec.ipFamilies();
  const auto before = old.ipFamilies();
  if (now.size() == before.size()) {
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i] != before[i]) {
        errors.push_back(Invalid(path.Index(0), now.value(), "may not change once set"));
      }
    }
    return;
  }
  if (before.size() > now.size() && spec.clusterIPs().empty()) {
    errors.push_back(Invalid(path.Index(0), now.value(), "primary ipFamily can not be unset"));
  }
  // Upstream shows the addresses here.
  CheckKeptList(now, before, path, spec.clusterIPs().value(), errors);
  if (before.size() > now.size() && now.size() == 1) {
    CheckReleasePolicy(spec, "must be set to 'SingleStack' when releasing the secondary ipFamily",
                       errors);
  }
}

}  // namespace

void CheckClusterIps(const v1::ServiceSpec& spec, const v1::ServiceSpec* old, FieldErrors& errors) {
  if (IsExternalName(spec)) return;
  const Path root("spec");
  const Path path = root.Child("clusterIPs");
  CheckFirstAddress(spec, path, errors);
  CheckFamilies(spec, root.Child("ipFamilies"), errors);
  if (auto policy = spec.ipFamilyPolicy()) {
    rest::CheckSupported(*policy, kPolicies, root.Child("ipFamilyPolicy"), errors);
  }
  if (!CheckAddresses(spec, old, path, errors)) return;
  const auto addresses = spec.clusterIPs();
  if (addresses.size() > 1) {
    const auto v6 = std::ranges::count_if(addresses, IsV6);
    if (v6 == 0 || v6 == static_cast<ptrdiff_t>(addresses.size())) {
      errors.push_back(
          Invalid(path, addresses.value(), "may specify no more than one IP for each IP family"));
    }
  }
  CheckAgainstFamilies(spec, path, errors);
}

void CheckClusterIpsUpdate(const v1::ServiceSpec& spec, const v1::ServiceSpec& old,
                           FieldErrors& errors) {
  if (IsExternalName(spec) || IsExternalName(old)) return;
  CheckAddressesUpdate(spec, old, errors);
  CheckFamiliesUpdate(spec, old, errors);
}

}  // namespace keelson::kube::service
