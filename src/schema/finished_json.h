#pragma once

// From finished JSON (value/json_cursor.h) to a typed tree that lives only to be encoded.
//
// Storage keeps objects as this program wrote them: valid, compact, canonical. Reading them again
// needs no checks, no copies of strings, and no trees for parts that go out as the JSON they are:
// RawExtension and FieldsV1 stand in the tree as their text, which EncodeProtobuf takes as it is.

#include <string_view>

#include "schema/type.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::schema {

// The tree borrows from `json`, the arena and the type.
value::Value ReadFinishedJson(const Type& type, std::string_view json, value::Arena& arena);

}  // namespace keelson::schema
