#pragma once

// What an unquoted YAML 1.1 scalar means. Internal to the YAML reader.

#include <optional>
#include <string_view>

#include "value/arena.h"
#include "value/value.h"

namespace keelson::value {

enum class YamlTag { kNull, kBool, kInt, kFloat, kString, kMerge };

struct YamlScalar {
  YamlTag tag = YamlTag::kString;
  Value value;         // a string borrows the text
  bool finite = true;  // false for .inf and .nan, which JSON cannot hold
};

YamlScalar ResolveYamlScalar(std::string_view text);

}  // namespace keelson::value
