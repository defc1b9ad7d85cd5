#pragma once

// Checks that validators of many kinds share, in upstream's words.
//
// Every check adds to `errors` and takes nothing from the heap while there is nothing to add.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/names.h"
#include "schema/equality.h"
#include "schema/field_error.h"
#include "value/path.h"
#include "value/value.h"

namespace keelson::rest {

inline void CheckNonnegative(int64_t number, const value::Path& path, schema::FieldErrors& errors) {
  if (number >= 0) return;
  errors.push_back(schema::Invalid(path, number, "must be greater than or equal to 0"));
}
// What is not there is fine.
template <typename Number>
void CheckNonnegative(const std::optional<Number>& number, const value::Path& path,
                      schema::FieldErrors& errors) {
  if (number) CheckNonnegative(int64_t{*number}, path, errors);
}
inline void CheckPositive(int64_t number, const value::Path& path, schema::FieldErrors& errors) {
  if (number > 0) return;
  errors.push_back(schema::Invalid(path, number, "must be greater than 0"));
}

// The text must be one of `supported`, which the error lists as they stand.
void CheckSupported(std::string_view text, std::span<const std::string_view> supported,
                    const value::Path& path, schema::FieldErrors& errors);
// The same where nothing is not allowed either.
void CheckRequiredChoice(std::string_view text, std::span<const std::string_view> supported,
                         const value::Path& path, schema::FieldErrors& errors);

// Adds one Invalid per complaint about `text`; see base/names.h.
inline void CheckText(std::string_view text, names::Complaints (*check)(std::string_view),
                      const value::Path& path, schema::FieldErrors& errors) {
  schema::AddComplaints(errors, path, text, check(text));
}
inline void CheckName(std::string_view text, names::NameCheck check, const value::Path& path,
                      schema::FieldErrors& errors) {
  schema::AddComplaints(errors, path, text, check(text, /*prefix=*/false));
}

// example.com/some/path, as controllers name themselves.
void CheckDomainPrefixedPath(std::string_view text, const value::Path& path,
                             schema::FieldErrors& errors);

// A field that may not change. Prints the new value as upstream does (schema/internal_form.h).
void CheckImmutable(const schema::Type& type, const value::Value& now, const value::Value& old,
                    const value::Path& path, schema::FieldErrors& errors);

// The same for a field of a struct of this type, where unset differs from zero if it can.
void CheckImmutableField(const schema::Type& type, const value::Name& field,
                         const value::Value& now, const value::Value& old, const value::Path& path,
                         schema::FieldErrors& errors);

// A count or a percentage, as maxUnavailable is.
void CheckCountOrPercent(const value::Value& amount, const value::Path& path,
                         schema::FieldErrors& errors);
void CheckAtMostAllPercent(const value::Value& amount, const value::Path& path,
                           schema::FieldErrors& errors);
// The number in it, percent or not; 0 for anything else.
int64_t CountOrPercent(const value::Value& amount);

// A meta/v1 LabelSelector. An old one that was stored with bad values may keep them.
struct SelectorLeniency {
  bool bad_values = false;
};
void CheckLabelSelector(const value::Value& selector, const value::Path& path,
                        schema::FieldErrors& errors, SelectorLeniency leniency = {});
bool HasBadValues(const value::Value& selector);
// Whether the selector could be parsed at all; none can.
bool IsUsableSelector(const value::Value& selector);
// Whether it selects nothing in particular: there, but without a requirement.
bool IsEmptySelector(const value::Value& selector);
// Whether it selects an object with these labels. None selects nothing, an empty one everything.
bool SelectorMatches(const value::Value& selector, const value::Value& labels);

// The conditions of a status, meta/v1 Condition each.
void CheckConditions(const value::Value& conditions, const value::Path& path,
                     schema::FieldErrors& errors);

}  // namespace keelson::rest
