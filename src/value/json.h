#pragma once

// JSON in and out, without a schema: for custom resources, patches and whatever has no type.
//
// Built-in kinds are read by schema/decode_json.h. Writing needs no schema, because a typed tree
// already holds exactly what its JSON holds, in order.

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "value/document.h"
#include "value/json_reader.h"

namespace keelson::value {

struct JsonOptions {
  // Sorts the members of every object by name, the order upstream writes untyped objects in.
  bool sort_members = false;
  // Where to collect duplicate fields, as upstream's strict decoding words them, at most 100;
  // nowhere when null. Of equal names the last one counts.
  std::vector<std::string>* strict_errors = nullptr;
};

// The errors' messages are upstream's. `text` is copied.
Result<Document> ParseJson(std::string_view text, const JsonOptions& options = {});

// Reads one value at the reader's place. A number too large for a double sets `error`, the first
// one found, and counts as zero.
Value ReadJsonValue(JsonReader& reader, const JsonOptions& options, std::string& error);

// Appends the value as JSON in upstream's form: no white space, <, >, &, U+2028 and U+2029 escaped,
// numbers as Go writes them.
void AppendJson(std::string& out, const Value& value);
std::string ToJson(const Value& value);
// A slice of its own block.
Slice ToJsonSlice(const Value& value);

// True when no byte of `text` needs care in JSON (see Value::String). Text past ASCII counts as in
// need of it.
bool IsPlainJson(std::string_view text);

// A double as Go's JSON writes it: 1, 0.5, 1e+21, 1e-7.
void AppendJsonDouble(std::string& out, double number);

}  // namespace keelson::value
