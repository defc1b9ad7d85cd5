#include "auth/service_account_name.h"

#include "base/names.h"

namespace keelson::auth {

std::optional<ServiceAccountName> SplitServiceAccountName(std::string_view user) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  if (!user.starts_with(kPrefix)) return std::nullopt;
  user.remove_prefix(kPrefix.size());
  auto colon = user.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  ServiceAccountName account{user.substr(0, colon), user.substr(colon + 1)};
  if (!names::IsDns1123Label(account.ns) || !names::IsDns1123Subdomain(account.name)) {
    return std::nullopt;
  }
  return account;
}

std::vector<std::string> ServiceAccountGroups(std::string_view ns) {
  return {"system:serviceaccounts", "system:serviceaccounts:" + std::string(ns)};
}

}  // namespace keelson::auth
