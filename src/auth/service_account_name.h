#pragma once

// How service accounts are called as users: system:serviceaccount:<namespace>:<name>.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keelson::auth {

struct ServiceAccountName {
  std::string_view ns;
  std::string_view name;
};

// Nothing when `user` is not the name of a service account. Views into `user`.
std::optional<ServiceAccountName> SplitServiceAccountName(std::string_view user);

// Every account is in these two: all accounts, and those of its namespace.
std::vector<std::string> ServiceAccountGroups(std::string_view ns);

}  // namespace keelson::auth
