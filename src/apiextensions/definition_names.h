#pragma once

// The names that definitions ask for and get. Within a group no two may have the same name for
// their resources, singular and short names included, and none the same kind.
//
// Who came first keeps a name; what is refused is said in the condition NamesAccepted. For one
// thread.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "apiextensions/conditions.h"
#include "value/document.h"
#include "value/value.h"

namespace keelson::apiextensions {

class DefinitionNames {
 public:
  // Notes the names that a definition has been given, in place of those it had.
  void Put(std::string_view definition, const value::Value& root);
  void Remove(std::string_view definition);

  // Gives the definition the names it asks for, as far as nobody else has them, and brings its
  // conditions up to date. Returns whether anything changed.
  bool Settle(value::Ref definition, WallTime now) const;
  // Whether Settle would change something.
  bool IsSettled(const value::Value& root) const;

 private:
  using Key = std::pair<std::string, std::string>;  // group, name
  using Owners = std::map<Key, std::set<std::string, std::less<>>>;
  struct Outcome;

  Outcome Judge(const value::Value& root) const;
  static bool TakenByAnother(const Owners& owners, std::string_view group, std::string_view name,
                             std::string_view definition);

  Owners resources_;
  Owners kinds_;
  // What each definition stands for in the two.
  std::map<std::string, std::pair<std::set<Key>, std::set<Key>>, std::less<>> held_;
};

}  // namespace keelson::apiextensions
