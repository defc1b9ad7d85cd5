#include "kube/core/resource_names.h"

#include "base/names.h"
#include "kube/pod/resources.h"

namespace keelson::kube::core {
namespace {

using schema::FieldErrors;
using schema::Invalid;
using value::Path;

bool IsQualified(std::string_view name) { return name.find('/') != std::string_view::npos; }

}  // namespace

bool IsStandardQuotaResource(std::string_view name) {
  // Storage is counted in requests.storage only.
  return name != "storage" && pod::IsStandardResource(name);
}

void CheckResourceName(std::string_view name, const Path& path, FieldErrors& errors) {
  if (auto complaints = names::CheckQualifiedName(name); !complaints.empty()) {
    schema::AddComplaints(errors, path, name, complaints);
  } else if (!IsQualified(name) && !pod::IsStandardResource(name)) {
    errors.push_back(Invalid(path, name, "must be a standard resource type or fully qualified"));
  }
}

void CheckContainerResourceName(std::string_view name, const Path& path, FieldErrors& errors) {
  CheckResourceName(name, path, errors);
  if (!IsQualified(name)) {
    if (!pod::IsStandardContainerResource(name)) {
      errors.push_back(Invalid(path, name, "must be a standard resource for containers"));
    }
  } else if (!pod::IsNativeResource(name) && !pod::IsExtendedResource(name)) {
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
  if (quantity.MilliValue() % 1000 != 0 && pod::IsIntegerResource(name)) {
    errors.push_back(Invalid(path, text, "must be an integer"));
  }
}

value::Quantity QuantityOf(std::string_view text) {
  auto quantity = value::Quantity::Parse(text);
  return quantity ? *std::move(quantity) : value::Quantity();
}

}  // namespace keelson::kube::core
