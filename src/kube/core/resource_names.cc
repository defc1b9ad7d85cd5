#include "kube/core/resource_names.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/names.h"

namespace keelson::kube::core {
namespace {

using schema::FieldErrors;
using schema::Invalid;
using value::Path;

constexpr std::string_view kRequestsPrefix = "requests.";
constexpr std::string_view kHugePagesPrefix = "hugepages-";
constexpr std::string_view kNativeNamespace = "kubernetes.io/";

enum Use : uint8_t {
  kStandard = 1 << 0,   // known to the server
  kQuota = 1 << 1,      // a quota may limit it
  kInteger = 1 << 2,    // counted in whole numbers
  kContainer = 1 << 3,  // containers may ask for it
};
struct Resource {
  std::string_view name;
  uint8_t uses;
};
constexpr Resource kResources[] = {
    {"cpu", kStandard | kQuota | kContainer},
    {"memory", kStandard | kQuota | kContainer},
    {"ephemeral-storage", kStandard | kQuota | kContainer},
    {"storage", kStandard},
    {"requests.cpu", kStandard | kQuota},
    {"requests.memory", kStandard | kQuota},
    {"requests.storage", kStandard | kQuota},
    {"requests.ephemeral-storage", kStandard | kQuota},
    {"limits.cpu", kStandard | kQuota},
    {"limits.memory", kStandard | kQuota},
    {"limits.ephemeral-storage", kStandard | kQuota},
    {"pods", kStandard | kQuota | kInteger},
    {"resourcequotas", kStandard | kQuota | kInteger},
    {"services", kStandard | kQuota | kInteger},
    {"services.nodeports", kStandard | kQuota | kInteger},
    {"services.loadbalancers", kStandard | kQuota | kInteger},
    {"replicationcontrollers", kStandard | kQuota | kInteger},
    {"secrets", kStandard | kQuota | kInteger},
    {"configmaps", kStandard | kQuota | kInteger},
    {"persistentvolumeclaims", kStandard | kQuota | kInteger},
};

bool Has(std::string_view name, Use use) {
  const auto* found = std::ranges::find(kResources, name, &Resource::name);
  return found != std::end(kResources) && (found->uses & use) != 0;
}

bool IsQuotaHugePageResource(std::string_view name) {
  if (name.starts_with(kRequestsPrefix)) name.remove_prefix(kRequestsPrefix.size());
  return IsHugePageResource(name);
}

bool IsQualified(std::string_view name) { return name.find('/') != std::string_view::npos; }

}  // namespace

bool IsHugePageResource(std::string_view name) { return name.starts_with(kHugePagesPrefix); }

bool IsNativeResource(std::string_view name) {
  return !IsQualified(name) || name.find(kNativeNamespace) != std::string_view::npos;
}

bool IsExtendedResource(std::string_view name) {
  if (IsNativeResource(name) || name.starts_with(kRequestsPrefix)) return false;
  // A quota would call it so.
  return names::CheckQualifiedName(std::string(kRequestsPrefix).append(name)).empty();
}

bool IsOvercommitAllowed(std::string_view name) {
  return IsNativeResource(name) && !IsHugePageResource(name);
}

bool IsStandardQuotaResource(std::string_view name) {
  return Has(name, kQuota) || IsQuotaHugePageResource(name);
}

void CheckResourceName(std::string_view name, const Path& path, FieldErrors& errors) {
  if (Has(name, kStandard) || IsQuotaHugePageResource(name)) {
    // What the table knows is well formed; of huge pages only the prefix is known.
    if (!IsQuotaHugePageResource(name)) return;
  }
  if (auto complaints = names::CheckQualifiedName(name); !complaints.empty()) {
    schema::AddComplaints(errors, path, name, complaints);
  } else if (!IsQualified(name) && !IsQuotaHugePageResource(name)) {
    errors.push_back(Invalid(path, name, "must be a standard resource type or fully qualified"));
  }
}

void CheckContainerResourceName(std::string_view name, const Path& path, FieldErrors& errors) {
  CheckResourceName(name, path, errors);
  if (!IsQualified(name)) {
    if (!Has(name, kContainer) && !IsHugePageResource(name)) {
      errors.push_back(Invalid(path, name, "must be a standard resource for containers"));
    }
  } else if (!IsNativeResource(name) && !IsExtendedResource(name)) {
    errors.push_back(Invalid(path, name, "doesn't follow extended resource name standard"));
  }
}

void CheckQuotaResourceName(std::string_view name, const Path& path, FieldErrors& errors) {
  CheckResourceName(name, path, errors);
  if (!IsQualified(name) && !IsStandardQuotaResource(name)) {
    errors.push_back(Invalid(path, name, "must be a standard resource for quota"));
  }
}

void CheckResourceAmount(std::string_view name, std::string_view text, const Path& path,
                         FieldErrors& errors) {
  const auto quantity = QuantityOf(text);
  if (quantity.Sign() < 0) {
    errors.push_back(Invalid(path, text, "must be greater than or equal to 0"));
  }
  const bool whole = Has(name, kInteger) || IsExtendedResource(name);
  if (whole && quantity.MilliValue() % 1000 != 0) {
    errors.push_back(Invalid(path, text, "must be an integer"));
  }
}

value::Quantity QuantityOf(std::string_view text) {
  auto quantity = value::Quantity::Parse(text);
  return quantity ? *std::move(quantity) : value::Quantity();
}

}  // namespace keelson::kube::core
