#pragma once

// JSONPath as columns of custom resources use it, upstream's dialect: a chain of steps from the
// root.
//
//   .spec.replicas                                a member; a dot in a name is written \.
//   .spec['a.b']  ["a"]                           the same in brackets
//   .items[0]  [-1]  [1:3]  [*]  .*               items by place, all of them, all members
//   ..name                                        members of that name at any depth
//   .status.conditions[?(@.type=="Ready")].status items that pass a test: == != < <= > >=, or alone
//
// Immutable; any thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace keelson::value {

class JsonPath {
 public:
  // kInvalid for what is not understood.
  static Result<JsonPath> Parse(std::string_view text);
  ~JsonPath();
  JsonPath(JsonPath&&) noexcept;
  JsonPath& operator=(JsonPath&&) noexcept;

  // What the path leads to, in order; nothing where something on the way is missing.
  std::vector<Value> Find(const Value& root) const;

  // The members that every result lies under, as a Projection names them: "status.conditions".
  std::string Prefix() const;

 private:
  struct Step;
  struct Test;
  class Parser;

  JsonPath();
  static void Take(const Step& step, const Value& from, std::vector<Value>& out);
  static bool Passes(const Test& test, const Value& item);

  std::vector<Step> steps_;
};

}  // namespace keelson::value
