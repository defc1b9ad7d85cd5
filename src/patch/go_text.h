#pragma once

// JSON values as Go's fmt prints them, for messages that upstream builds that way.

#include <string>

#include "value/value.h"

namespace keelson::patch {

// %v: map[a:1 b:[x y]], <nil>, 1.5, text as it is.
void AppendGoPlain(std::string& out, const value::Value& value);
// %#v: map[string]interface {}{"a":1}, []interface {}{"x"}, interface {}(nil).
void AppendGoSyntax(std::string& out, const value::Value& value);
// %T: string, int64, float64, bool, map[string]interface {}, []interface {}, <nil>.
std::string_view GoTypeName(const value::Value& value);

inline std::string GoPlain(const value::Value& value) {
  std::string out;
  AppendGoPlain(out, value);
  return out;
}

}  // namespace keelson::patch
