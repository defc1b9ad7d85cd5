#pragma once

// References to other objects by group, kind and name, as many kinds hold them. Internal.

#include <optional>
#include <string_view>

#include "rest/field_checks.h"

namespace keelson::kube::cluster {

// A name that must be there and may stand in a URL path.
inline void CheckRequiredSegment(std::string_view text, const value::Path& path,
                                 schema::FieldErrors& errors) {
  if (text.empty()) {
    errors.push_back(schema::Required(path, ""));
  } else {
    rest::CheckText(text, names::CheckPathSegment, path, errors);
  }
}

// An object in the same namespace, of any kind. `reference` has apiGroup, kind and name.
template <typename Reference>
void CheckTypedReference(const Reference& reference, const value::Path& path,
                         schema::FieldErrors& errors) {
  if (auto group = reference.apiGroup()) {
    rest::CheckText(*group, names::CheckDns1123Subdomain, path.Child("apiGroup"), errors);
  }
  CheckRequiredSegment(reference.kind(), path.Child("kind"), errors);
  CheckRequiredSegment(reference.name(), path.Child("name"), errors);
}

}  // namespace keelson::kube::cluster
