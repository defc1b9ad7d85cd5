#pragma once

// Who a request comes from, in Kubernetes' terms. A plain value, shared immutably.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace keelson::auth {

inline constexpr std::string_view kAnonymousUser = "system:anonymous";
inline constexpr std::string_view kApiServerUser = "system:apiserver";
inline constexpr std::string_view kPrivilegedGroup = "system:masters";
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr std::string_view kUnauthenticatedGroup = "system:unauthenticated";

struct User {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool InGroup(std::string_view group) const {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
  }
  bool IsAnonymous() const { return name == kAnonymousUser || InGroup(kUnauthenticatedGroup); }
  bool operator==(const User&) const = default;
};

using UserPtr = std::shared_ptr<const User>;

}  // namespace keelson::auth
