#include "schema/field_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "base/quote.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

struct TypeWords {
  std::string_view reason;
  std::string_view text;
  bool prints_value;
};

// In the order of FieldErrorType.
constexpr std::array<TypeWords, 12> kWords = {{
    {"FieldValueNotFound", "Not found", true},
    {"FieldValueRequired", "Required value", false},
    {"FieldValueDuplicate", "Duplicate value", true},
    {"FieldValueInvalid", "Invalid value", true},
    {"FieldValueNotSupported", "Unsupported value", true},
    {"FieldValueForbidden", "Forbidden", false},
    {"FieldValueTooLong", "Too long", false},
    {"FieldValueTooMany", "Too many", true},
    {"FieldValueTooFew", "Too few", true},
    {"InternalError", "Internal error", false},
    {"FieldValueTypeInvalid", "Invalid value", true},
    {"FieldValueTooShort", "Too short", false},
}};

const TypeWords& WordsOf(FieldErrorType type) { return kWords[static_cast<size_t>(type)]; }

FieldError Make(FieldErrorType type, const value::Path& path, std::string bad_value,
                std::string detail) {
  return {type, path.ToString(), std::move(bad_value), std::move(detail)};
}

std::string Counted(std::string_view words, int64_t count, std::string_view unit) {
  return fmt::format("{} {} {}{}", words, count, unit, count == 1 ? "" : "s");
}

}  // namespace

std::string_view ReasonOf(FieldErrorType type) { return WordsOf(type).reason; }

BadValue::BadValue(std::string_view text) : text_(Quote(text)) {}
BadValue::BadValue(double number) { value::AppendJsonDouble(text_, number); }
BadValue::BadValue(const value::Value& value) {
  text_ = value.is_string() ? Quote(value.AsString()) : value::ToJson(value);
}

std::string FieldError::Body() const {
  const auto& words = WordsOf(type);
  std::string body(words.text);
  if (words.prints_value && !bad_value.empty()) body += ": " + bad_value;
  if (!detail.empty()) body += ": " + detail;
  return body;
}

FieldError NotFound(const value::Path& path, const BadValue& value) {
  return Make(FieldErrorType::kNotFound, path, value.text(), "");
}
FieldError Required(const value::Path& path, std::string detail) {
  return Make(FieldErrorType::kRequired, path, "", std::move(detail));
}
FieldError Duplicate(const value::Path& path, const BadValue& value) {
  return Make(FieldErrorType::kDuplicate, path, value.text(), "");
}
FieldError Invalid(const value::Path& path, const BadValue& value, std::string detail) {
  return Make(FieldErrorType::kInvalid, path, value.text(), std::move(detail));
}
FieldError TypeInvalid(const value::Path& path, const BadValue& value, std::string detail) {
  return Make(FieldErrorType::kTypeInvalid, path, value.text(), std::move(detail));
}

FieldError NotSupported(const value::Path& path, const BadValue& value,
                        std::span<const std::string_view> supported) {
  std::string detail;
  for (auto text : supported) {
    detail += detail.empty() ? "supported values: " : ", ";
    detail += Quote(text);
  }
  return Make(FieldErrorType::kNotSupported, path, value.text(), std::move(detail));
}

FieldError Forbidden(const value::Path& path, std::string detail) {
  return Make(FieldErrorType::kForbidden, path, "", std::move(detail));
}
FieldError TooLong(const value::Path& path, int64_t max_bytes) {
  return Make(
      FieldErrorType::kTooLong, path, "",
      max_bytes < 0 ? "value is too long" : Counted("may not be more than", max_bytes, "byte"));
}
FieldError TooLongCharacters(const value::Path& path, int64_t max_characters) {
  return Make(FieldErrorType::kTooLong, path, "",
              max_characters < 0 ? "value is too long"
                                 : Counted("may not be more than", max_characters, "character"));
}
FieldError TooShort(const value::Path& path, int64_t min_characters) {
  return Make(FieldErrorType::kTooShort, path, "",
              min_characters < 0 ? "value is too short"
                                 : Counted("must be at least", min_characters, "character"));
}
FieldError TooMany(const value::Path& path, int64_t actual, int64_t max_items) {
  return Make(
      FieldErrorType::kTooMany, path, actual < 0 ? "" : std::to_string(actual),
      max_items < 0 ? "has too many items" : Counted("must have at most", max_items, "item"));
}
FieldError TooFew(const value::Path& path, int64_t actual, int64_t min_items) {
  return Make(
      FieldErrorType::kTooFew, path, actual < 0 ? "" : std::to_string(actual),
      min_items < 0 ? "has too few items" : Counted("must have at least", min_items, "item"));
}
FieldError InternalError(const value::Path& path, std::string what) {
  return Make(FieldErrorType::kInternal, path, "", std::move(what));
}
FieldError Immutable(const value::Path& path, const BadValue& value) {
  return Invalid(path, value, "field is immutable");
}

void AddAllComplaints(FieldErrors& errors, const value::Path& path, const BadValue& value,
                      std::span<const std::string> complaints) {
  for (const auto& complaint : complaints) errors.push_back(Invalid(path, value, complaint));
}

void Append(FieldErrors& errors, FieldErrors more) {
  std::ranges::move(more, std::back_inserter(errors));
}

std::string Join(const FieldErrors& errors) {
  std::vector<std::string> texts;
  std::unordered_set<std::string> seen;
  for (const auto& error : errors) {
    auto text = error.ToString();
    if (seen.insert(text).second) texts.push_back(std::move(text));
  }
  if (texts.size() == 1) return texts.front();
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

Status InvalidStatus(std::string_view group, std::string_view kind, std::string_view name,
                     const FieldErrors& errors) {
  StatusDetails details{
      .name = std::string(name), .group = std::string(group), .kind = std::string(kind)};
  for (const auto& error : errors) {
    details.causes.push_back({.reason = std::string(ReasonOf(error.type)),
                              .message = error.Body(),
                              .field = error.field});
  }
  auto message =
      fmt::format("{}{}{} {} is invalid", kind, group.empty() ? "" : ".", group, Quote(name));
  if (!errors.empty()) message += ": " + Join(errors);
  return {.code = 422,
          .reason = "Invalid",
          .message = std::move(message),
          .details = std::move(details)};
}

}  // namespace keelson::schema
