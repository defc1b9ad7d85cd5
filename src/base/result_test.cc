#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace keelson {
namespace {

Result<int> ParseDigit(char c) {
  if (c < '0' || c > '9') return Fail(ErrorCode::kInvalid, "'{}' is not a digit", c);
  return c - '0';
}

Result<int> SumOfDigits(const char* text) {
  int sum = 0;
  for (; *text != 0; ++text) {
    TRY(int digit, ParseDigit(*text));
    sum += digit;
  }
  return sum;
}

Result<void> Check(char c) {
  TRY_VOID(ParseDigit(c));
  return {};
}

TEST(Result, TryBindsTheValueOrReturnsTheError) {
  EXPECT_EQ(SumOfDigits("123"), 6);
  auto failed = SumOfDigits("1x3");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error(), (Error{ErrorCode::kInvalid, "'x' is not a digit"}));
}

TEST(Result, TryVoidReturnsTheError) {
  EXPECT_TRUE(Check('1').has_value());
  EXPECT_EQ(Check('z').error().message, "'z' is not a digit");
}

TEST(Result, AnnotateKeepsTheCode) {
  auto annotated = Annotate({ErrorCode::kExpired, "gone"}, "reading a");
  EXPECT_EQ(annotated.error(), (Error{ErrorCode::kExpired, "reading a: gone"}));
}

TEST(Result, ErrnoIsNamed) {
  EXPECT_EQ(FailErrno(ENOENT, "opening x").error().message, "opening x: No such file or directory");
}

TEST(Result, EveryCodeHasAName) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    EXPECT_NE(ErrorCodeName(static_cast<ErrorCode>(code)), "Unknown") << code;
  }
}

TEST(CheckDeathTest, BrokenInvariantAbortsWithItsText) {
  EXPECT_DEATH(KEELSON_CHECK(1 + 1 == 3), "invariant broken.*1 \\+ 1 == 3");
}

}  // namespace
}  // namespace keelson
