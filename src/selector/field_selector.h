#pragma once

// Field selectors: `spec.nodeName=n1,status.phase!=Running`.
//
// Terms are joined by ','; each is FIELD ("=" | "==" | "!=") VALUE, where VALUE escapes ',', '='
// and
// '\' with a backslash. Which fields there are is a property of the resource and version asked for:
// Resolve checks the terms against its table and turns aliases into the names storage knows.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "selector/label_selector.h"

namespace keelson::selector {

// The field labels that one resource version accepts.
struct FieldLabels {
  std::span<const std::string_view> supported;
  // Accepted as well, and turned into the second name.
  std::span<const std::pair<std::string_view, std::string_view>> aliases;
  // What to say about any other; "%s" stands for the label, "%q" for the label quoted.
  std::string_view refusal = kGenericRefusal;

  static constexpr std::string_view kGenericRefusal =
      "%q is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
  static constexpr std::string_view kUnsupported = "field label not supported: %s";
};

// What resources without fields of their own accept.
const FieldLabels& MetadataFieldLabels();

struct FieldTerm {
  std::string field;
  std::string value;
  bool equal = true;  // false for "!="

  bool operator==(const FieldTerm&) const = default;
};

class FieldSelector {
 public:
  // Selects everything.
  FieldSelector() = default;
  explicit FieldSelector(std::vector<FieldTerm> terms) : terms_(std::move(terms)) {}

  // Fails with kInvalid and upstream's message, or kTooLarge.
  static Result<FieldSelector> Parse(std::string_view text);

  // The same selector in storage's field names; kInvalid with the table's refusal for an unknown
  // one.
  Result<FieldSelector> Resolve(const FieldLabels& labels) const;

  bool empty() const { return terms_.empty(); }
  std::span<const FieldTerm> terms() const { return terms_; }

  // `fields.Find(field)` yields std::string_view, empty for a field without value.
  template <typename Fields>
  bool Matches(const Fields& fields) const {
    for (const auto& term : terms_) {
      if ((fields.Find(term.field) == term.value) != term.equal) return false;
    }
    return true;
  }

  // The value that `field` must have for an object to be selected, if the selector says so.
  std::optional<std::string_view> RequiredValue(std::string_view field) const;

  std::string ToString() const;
  bool operator==(const FieldSelector&) const = default;

 private:
  std::vector<FieldTerm> terms_;
};

}  // namespace keelson::selector
