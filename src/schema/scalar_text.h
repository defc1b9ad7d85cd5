#pragma once

// Small texts inside path elements: the JSON of key values, and how messages show them.
//
// The keys of keyed lists and the items of sets are scalars; fieldsV1 spells them as JSON inside a
// member name, messages as Go prints them. Lists and objects can only stand there in what an older
// or foreign server wrote; they are read, and written back compactly.

#include <string>
#include <string_view>

#include "base/result.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::schema {

// Compact JSON; numbers and strings as Go's encoder writes them, members sorted.
void AppendScalarJson(std::string& out, const value::Value& value);
// 80, true, null, "a" with Go's quoting.
void AppendScalarText(std::string& out, const value::Value& value);

// Reads JSON values from a short text. Strings without escapes point into the text.
class JsonScanner {
 public:
  static constexpr int kMaxDepth = 32;

  JsonScanner(value::Arena& arena, std::string_view text) : arena_(arena), rest_(text) {}

  // Skips white space, then takes `c` if it is next.
  bool Take(char c);
  Result<std::string_view> String();
  Result<value::Value> Any() { return Any(0); }
  bool AtEnd();

 private:
  Result<value::Value> Any(int depth);
  Result<value::Value> Number();
  Result<value::Value> List(int depth);
  Result<value::Value> Object(int depth);
  Result<std::string_view> Unescape(size_t plain);

  value::Arena& arena_;
  std::string_view rest_;
};

}  // namespace keelson::schema
