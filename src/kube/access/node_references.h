#pragma once

// What a pod makes its node need: the names of the objects in its namespace that the kubelet must
// read to run it. Pure.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "value/value.h"

namespace keelson::kube::access {

enum class Referenced : uint8_t {
  kSecret,
  kConfigMap,
  kPersistentVolumeClaim,
  kResourceClaim,
  kServiceAccount,
};

using PodReferences = std::set<std::pair<Referenced, std::string>>;

// Mirror pods, which nodes make themselves, give no access to anything.
PodReferences ReferencesOf(const value::Value& pod);

// The secrets, with their namespaces, that the kubelet needs to mount a bound volume.
std::vector<std::pair<std::string, std::string>> SecretsOfVolume(const value::Value& volume);

}  // namespace keelson::kube::access
