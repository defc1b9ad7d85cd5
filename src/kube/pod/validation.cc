#include "kube/pod/validation.h"

#include <fmt/format.h>

#include <limits>

#include "base/ip_address.h"

namespace keelson::kube::pod {

using schema::Invalid;
using schema::NotSupported;
using schema::Required;

void VolumeIndex::Accept(size_t index) {
  if (volumes_.size() <= kFew) {
    accepted_ |= uint64_t{1} << index;
  } else {
    many_.emplace(volumes_[index].name(), static_cast<uint32_t>(index));
  }
}

core::Volume VolumeIndex::Find(std::string_view name) const {
  if (volumes_.size() <= kFew) {
    for (size_t i = 0; i < volumes_.size(); ++i) {
      if ((accepted_ >> i & 1) != 0 && volumes_[i].name() == name) return volumes_[i];
    }
    return {};
  }
  auto found = many_.find(name);
  return found == many_.end() ? core::Volume() : volumes_[found->second];
}

void CheckNotNegative(int64_t value, const Path& path, FieldErrors& errors) {
  if (value < 0) errors.push_back(Invalid(path, value, "must be greater than or equal to 0"));
}

void CheckPositive(int64_t value, const Path& path, FieldErrors& errors) {
  if (value <= 0) errors.push_back(Invalid(path, value, "must be greater than zero"));
}

void CheckIp(std::string_view text, const Path& path, FieldErrors& errors) {
  AddInvalid(errors, path, text, names::CheckIp(text));
}

void CheckFileMode(const std::optional<int32_t>& mode, const Path& path, FieldErrors& errors) {
  if (mode && (*mode > 0777 || *mode < 0)) {
    errors.push_back(
        Invalid(path, *mode, "must be a number between 0 and 0777 (octal), both inclusive"));
  }
}

void CheckId(int64_t id, const Path& path, FieldErrors& errors) {
  if (id < 0 || id > std::numeric_limits<int32_t>::max()) {
    errors.push_back(Invalid(path, id, "must be between 0 and 2147483647, inclusive"));
  }
}

void CheckPullPolicy(std::string_view policy, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kPolicies[] = {"Always", "IfNotPresent", "Never"};
  if (policy.empty()) {
    errors.push_back(Required(path, ""));
  } else if (!OneOf(policy, kPolicies)) {
    errors.push_back(NotSupported(path, policy, kPolicies));
  }
}

bool HasBackstep(std::string_view path) {
  for (;;) {
    const auto slash = path.find('/');
    if (path.substr(0, slash) == "..") return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

void CheckNoBacksteps(std::string_view text, const Path& path, FieldErrors& errors) {
  if (HasBackstep(text)) errors.push_back(Invalid(path, text, "must not contain '..'"));
}

void CheckDescending(std::string_view text, const Path& path, FieldErrors& errors) {
  if (text.starts_with('/')) errors.push_back(Invalid(path, text, "must be a relative path"));
  CheckNoBacksteps(text, path, errors);
}

void CheckLocalPath(std::string_view text, const Path& path, FieldErrors& errors) {
  CheckDescending(text, path, errors);
  // A leading ".." of its own is reported above.
  if (text.starts_with("..") && !text.starts_with("../")) {
    errors.push_back(Invalid(path, text, "must not start with '..'"));
  }
}

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

value::Quantity QuantityOf(std::string_view text) {
  auto quantity = value::Quantity::Parse(text);
  return quantity ? *std::move(quantity) : value::Quantity();
}

void ValidateLabelSelector(const Value& selector, const Path& path, FieldErrors& errors) {
  const api::meta_v1::LabelSelector view(selector);
  if (!view) return;
  for (auto [key, value] : view.matchLabels()) {
    const Path labels = path.Child("matchLabels");
    CheckQualified(key, labels, errors);
    AddInvalid(errors, labels, value, names::CheckLabelValue(value));
  }
  size_t i = 0;
  for (auto requirement : view.matchExpressions()) {
    const Path at = path.Child("matchExpressions").Index(i++);
    const auto op = requirement.operator_();
    if (op == "In" || op == "NotIn") {
      if (requirement.values().empty()) {
        errors.push_back(
            Required(at.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (!requirement.values().empty()) {
        errors.push_back(schema::Forbidden(
            at.Child("values"),
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      }
    } else {
      errors.push_back(Invalid(at.Child("operator"), op, "not a valid selector operator"));
    }
    CheckQualified(requirement.key(), at.Child("key"), errors);
    size_t j = 0;
    for (auto value : requirement.values()) {
      AddInvalid(errors, at.Child("values").Index(j++), value, names::CheckLabelValue(value));
    }
  }
}

}  // namespace keelson::kube::pod
