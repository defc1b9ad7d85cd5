#pragma once

// Kubeconfig files: where the current context leads, and how one gets in there.

#include <string>
#include <string_view>

#include "base/result.h"
#include "client/http_transport.h"

namespace keelson::client {

// `folder` is where relative paths in it begin.
Result<Target> ReadKubeconfig(std::string_view text, const std::string& folder);
Result<Target> ReadKubeconfigFile(const std::string& path);

}  // namespace keelson::client
