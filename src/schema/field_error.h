#pragma once

// FieldError: what is wrong with one field of an object, in upstream's words, and how a list of
// them becomes the 422 Status.
//
//   errors.push_back(Required(path.Child("name"), ""));
//   errors.push_back(Invalid(path.Child("port"), port, "must be between 1 and 65535, inclusive"));

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "value/path.h"
#include "value/value.h"

namespace keelson::schema {

enum class FieldErrorType : uint8_t {
  kNotFound,
  kRequired,
  kDuplicate,
  kInvalid,
  kNotSupported,
  kForbidden,
  kTooLong,
  kTooMany,
  kTooFew,
  kInternal,
  kTypeInvalid,
  kTooShort,
};

// "FieldValueRequired", the reason of a cause.
std::string_view ReasonOf(FieldErrorType type);

// A refused value as it is printed: text in Go's quotes, numbers and booleans plain, anything else
// as JSON.
class BadValue {
 public:
  BadValue(std::string_view text);  // NOLINT: converts on purpose
  BadValue(const std::string& text) : BadValue(std::string_view(text)) {}  // NOLINT
  BadValue(const char* text) : BadValue(std::string_view(text)) {}         // NOLINT
  BadValue(std::same_as<bool> auto b) : text_(b ? "true" : "false") {}     // NOLINT
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  BadValue(T number) : text_(std::to_string(number)) {}  // NOLINT
  BadValue(double number);                               // NOLINT
  BadValue(const value::Value& value);                   // NOLINT
  static BadValue Json(std::string text) { return BadValue(Raw{}, std::move(text)); }
  // Nothing is printed.
  static BadValue Omitted() { return BadValue(Raw{}, std::string()); }

  const std::string& text() const { return text_; }

 private:
  struct Raw {};
  BadValue(Raw, std::string text) : text_(std::move(text)) {}
  std::string text_;
};

struct FieldError {
  FieldErrorType type = FieldErrorType::kInvalid;
  std::string field;
  std::string bad_value;  // as printed; empty when the type prints none
  std::string detail;

  // `Invalid value: "x": must be ...`
  std::string Body() const;
  // `spec.a: Invalid value: ...`
  std::string ToString() const { return field + ": " + Body(); }

  bool operator==(const FieldError&) const = default;
};

using FieldErrors = std::vector<FieldError>;

FieldError NotFound(const value::Path& path, const BadValue& value);
FieldError Required(const value::Path& path, std::string detail);
FieldError Duplicate(const value::Path& path, const BadValue& value);
FieldError Invalid(const value::Path& path, const BadValue& value, std::string detail);
FieldError TypeInvalid(const value::Path& path, const BadValue& value, std::string detail);
FieldError NotSupported(const value::Path& path, const BadValue& value,
                        std::span<const std::string_view> supported);
FieldError Forbidden(const value::Path& path, std::string detail);
FieldError TooLong(const value::Path& path, int64_t max_bytes);
FieldError TooLongCharacters(const value::Path& path, int64_t max_characters);
FieldError TooShort(const value::Path& path, int64_t min_characters);
// A negative `actual` is not printed.
FieldError TooMany(const value::Path& path, int64_t actual, int64_t max_items);
FieldError TooFew(const value::Path& path, int64_t actual, int64_t min_items);
FieldError InternalError(const value::Path& path, std::string what);
// Invalid, with upstream's "field is immutable".
FieldError Immutable(const value::Path& path, const BadValue& value);

// Adds one Invalid per complaint (see base/names.h). The value is printed only when there is one.
void AddAllComplaints(FieldErrors& errors, const value::Path& path, const BadValue& value,
                      std::span<const std::string> complaints);
template <typename Shown>
void AddComplaints(FieldErrors& errors, const value::Path& path, const Shown& value,
                   std::span<const std::string> complaints) {
  if (!complaints.empty()) AddAllComplaints(errors, path, BadValue(value), complaints);
}

void Append(FieldErrors& errors, FieldErrors more);

// Joined as upstream joins an aggregate: one alone, several in brackets, repeats once.
std::string Join(const FieldErrors& errors);

// `Pod "a" is invalid: ...`, one cause per error.
Status InvalidStatus(std::string_view group, std::string_view kind, std::string_view name,
                     const FieldErrors& errors);

}  // namespace keelson::schema
