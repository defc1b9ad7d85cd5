#pragma once

// What PersistentVolume and PersistentVolumeClaim have in common.

#include <string_view>

#include "kube/core/kinds.h"

namespace keelson::kube::core {

inline constexpr std::string_view kVolumeModes[] = {"Block", "Filesystem"};

// Each mode is known, and ReadWriteOncePod stands alone.
void CheckAccessModes(schema::ListView<std::string_view> modes, const Path& path,
                      FieldErrors& errors);

// A volume's source stays what it was, but for an expansion secret that may be added.
void CheckSourceUnchanged(const Value& spec, const Value& old, FieldErrors& errors);

// A claim's spec, without what may change, stays what it was.
void CheckClaimUnchanged(const Value& spec, const Value& old, FieldErrors& errors);

}  // namespace keelson::kube::core
