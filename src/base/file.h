#pragma once

// Files read as a whole: configuration, keys, tokens.

#include <cstddef>
#include <string>

#include "base/result.h"

namespace keelson {

inline constexpr size_t kMaxWholeFile = size_t{4} << 20;

// kTooLarge past kMaxWholeFile, so that a wrong path cannot fill the memory.
Result<std::string> ReadWholeFile(const std::string& path);

}  // namespace keelson
