#include "schema/field_error.h"

#include <gtest/gtest.h>

namespace keelson::schema {
namespace {

using value::Path;
using value::Value;

TEST(FieldError, PrintsEachTypeInUpstreamsWords) {
  const Path path("spec");
  constexpr std::string_view kSupported[] = {"Exact", "NotOlderThan", ""};
  const std::pair<FieldError, const char*> cases[] = {
      {NotFound(path, "x"), "spec: Not found: \"x\""},
      {Required(path, ""), "spec: Required value"},
      {Required(path.Child("name"), "name or generateName is required"),
       "spec.name: Required value: name or generateName is required"},
      {Duplicate(path.Index(1), 80), "spec[1]: Duplicate value: 80"},
      {Invalid(path, true, "no"), "spec: Invalid value: true: no"},
      {Invalid(path, 1.5, "no"), "spec: Invalid value: 1.5: no"},
      {Invalid(path, "a\"b", "no"), "spec: Invalid value: \"a\\\"b\": no"},
      {TypeInvalid(path, "x", "must be a number"), "spec: Invalid value: \"x\": must be a number"},
      {NotSupported(path, "Foo", kSupported),
       "spec: Unsupported value: \"Foo\": supported values: \"Exact\", \"NotOlderThan\", \"\""},
      {Forbidden(path, "not allowed"), "spec: Forbidden: not allowed"},
      {TooLong(path, 1), "spec: Too long: may not be more than 1 byte"},
      {TooLongCharacters(path, 63), "spec: Too long: may not be more than 63 characters"},
      {TooShort(path, 2), "spec: Too short: must be at least 2 characters"},
      {TooMany(path, 5, 4), "spec: Too many: 5: must have at most 4 items"},
      {TooMany(path, -1, 1), "spec: Too many: must have at most 1 item"},
      {TooFew(path, 0, 1), "spec: Too few: 0: must have at least 1 item"},
      {InternalError(path, "boom"), "spec: Internal error: boom"},
      {Immutable(path, "a"), "spec: Invalid value: \"a\": field is immutable"},
  };
  for (const auto& [error, text] : cases) EXPECT_EQ(error.ToString(), text);
}

TEST(FieldError, PrintsStructuredValuesAsJson) {
  const Value items[] = {Value::Int(1), Value::String("a<b"), Value::Bool(false), Value::Null()};
  EXPECT_EQ(Invalid(Path("a"), Value::List(items), "no").ToString(),
            R"(a: Invalid value: [1,"a\u003cb",false,null]: no)");
}

TEST(InvalidStatus, JoinsErrorsAndListsCauses) {
  FieldErrors errors{Required(Path("a"), ""), Required(Path("a"), ""), Forbidden(Path("b"), "no")};
  auto status = InvalidStatus("apps", "Deployment", "web", errors);
  EXPECT_EQ(status.code, 422);
  EXPECT_EQ(status.message,
            "Deployment.apps \"web\" is invalid: [a: Required value, b: Forbidden: no]");
  ASSERT_EQ(status.details->causes.size(), 3u);
  EXPECT_EQ(status.details->causes[2], (StatusCause{"FieldValueForbidden", "Forbidden: no", "b"}));
}

TEST(InvalidStatus, LeavesTheGroupOutWhenLegacy) {
  EXPECT_EQ(InvalidStatus("", "Pod", "", {Required(Path("a"), "")}).message,
            "Pod \"\" is invalid: a: Required value");
}

}  // namespace
}  // namespace keelson::schema
