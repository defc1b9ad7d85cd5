#pragma once

// What strategic merge asks a type: the strategy and merge key of a field, and where to go on
// below.

#include <string>
#include <string_view>

#include "base/result.h"
#include "schema/type.h"

namespace keelson::patch {

enum class Strategy : uint8_t { kDefault, kMerge, kReplace };

struct StrategicField {
  const schema::Type* type = nullptr;  // of the field, or of the list's elements
  Strategy strategy = Strategy::kDefault;
  std::string_view merge_key;
};

// Go's name for the kind of a type, as messages have it.
std::string_view GoKind(const schema::Type* type);

// A field that holds an object, of the struct `type`.
Result<StrategicField> LookupObject(const schema::Type* type, std::string_view name);
// A field that holds a list.
Result<StrategicField> LookupList(const schema::Type* type, std::string_view name);

}  // namespace keelson::patch
