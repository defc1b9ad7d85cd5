#pragma once

// The URLs of a resource.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keelson::client {

struct Resource {
  std::string group;  // empty: the core group
  std::string version;
  std::string plural;
  bool namespaced = true;

  // "/apis/apps/v1/namespaces/n/deployments/d/scale". An empty namespace means all of them; name
  // and subresource may be empty.
  std::string Path(std::string_view ns = {}, std::string_view name = {},
                   std::string_view subresource = {}) const;
};

// "?a=1&b=2", values escaped; parameters with an empty value are left out. Empty without any.
std::string QueryText(const std::vector<std::pair<std::string_view, std::string>>& parameters);

}  // namespace keelson::client
