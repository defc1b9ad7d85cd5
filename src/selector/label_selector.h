#pragma once

// Label selectors: `app=web,tier in (front,back),!canary`.
//
//   selector    = [ requirement { "," requirement } ]
//   requirement = [ "!" ] KEY | KEY ("=" | "==" | "!=" | ">" | "<") VALUE
//               | KEY ("in" | "notin") "(" [ VALUE ] { "," [ VALUE ] } ")"
//
// Blanks separate tokens; an absent VALUE is the empty string. A selector is a value, immutable
// once parsed and readable from any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace keelson::selector {

// Longer selectors are refused before they are looked at.
inline constexpr size_t kMaxSelectorBytes = size_t{256} << 10;

enum class LabelOperator : uint8_t {
  kIn,
  kNotIn,
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kGreater,
  kLess,
  kExists,
  kNotExists,
};

struct LabelRequirement {
  std::string key;
  LabelOperator op = LabelOperator::kExists;
  std::vector<std::string> values;  // sorted, without duplicates
  int64_t number = 0;               // the value of kGreater and kLess

  // `value` is the object's value for `key`, nullopt when it has no such label.
  bool Accepts(std::optional<std::string_view> value) const;
  std::string ToString() const;
  bool operator==(const LabelRequirement&) const = default;
};

class LabelSelector {
 public:
  // Selects everything.
  LabelSelector() = default;
  // The requirements must be well formed; they are sorted by key.
  explicit LabelSelector(std::vector<LabelRequirement> requirements);

  // Fails with kInvalid and upstream's message, or kTooLarge.
  static Result<LabelSelector> Parse(std::string_view text);

  bool empty() const { return requirements_.empty(); }
  std::span<const LabelRequirement> requirements() const { return requirements_; }

  // `labels.Find(key)` yields std::optional<std::string_view>.
  template <typename Labels>
  bool Matches(const Labels& labels) const {
    for (const auto& requirement : requirements_) {
      if (!requirement.Accepts(labels.Find(requirement.key))) return false;
    }
    return true;
  }

  // The one value that objects must have for `key` to be selected, if the selector says so.
  std::optional<std::string_view> RequiredValue(std::string_view key) const;

  std::string ToString() const;
  bool operator==(const LabelSelector&) const = default;

 private:
  std::vector<LabelRequirement> requirements_;
};

}  // namespace keelson::selector
