#include "storage/continue_token.h"

#include <gtest/gtest.h>

namespace keelson::storage {
namespace {

std::string ErrorOf(std::string_view token) {
  auto point = DecodeContinue(token);
  return point ? "decoded to " + point->start : point.error().message;
}

TEST(ContinueToken, IsUpstreamsForm) {
  EXPECT_EQ(EncodeContinue(600, std::string_view("/dep-min\0", 9)),
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NjAwLCJzdGFydCI6Ii9kZXAtbWluXHUwMDAwIn0");
  EXPECT_EQ(EncodeContinue(kContinueAtLatest, "a"),
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYSJ9");
}

TEST(ContinueToken, ReadsWhatItWrites) {
  for (std::string start :
       {std::string("a"), std::string("/ns/n\0", 6), std::string("/é<&>\"\\")}) {
    auto point = DecodeContinue(EncodeContinue(42, start));
    ASSERT_TRUE(point.has_value()) << point.error().message;
    EXPECT_EQ(point->revision, 42);
    EXPECT_EQ("/" + point->start, start.starts_with('/') ? start : "/" + start);
  }
}

TEST(ContinueToken, RefusesInUpstreamsWords) {
  EXPECT_EQ(ErrorOf("abc"),
            "continue key is not valid: invalid character 'i' looking for beginning of value");
  EXPECT_EQ(ErrorOf("!!!"), "continue key is not valid: illegal base64 data at input byte 0");
  EXPECT_EQ(
      ErrorOf("eyJ2IjoibWV0YS5rOHMuaW8vdjIiLCJydiI6MSwic3RhcnQiOiJhIn0"),
      "continue key is not valid: server does not recognize this encoded version meta.k8s.io/v2");
  EXPECT_EQ(ErrorOf("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0"),
            "continue key is not valid: incorrect encoded start resourceVersion (version "
            "meta.k8s.io/v1)");
  EXPECT_EQ(ErrorOf("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAwLCJzdGFydCI6Ii4uL2EifQ"),
            "continue key is not valid: ../a");
  EXPECT_EQ(ErrorOf(EncodeContinue(5, "")),
            "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  EXPECT_EQ(ErrorOf(""), "continue key is not valid: unexpected end of JSON input");
}

TEST(ContinueToken, CannotLeaveItsPrefix) {
  for (const char* start : {"..", "../x", "a/../../b", "/a//b", "a/", "./a", "a/."}) {
    EXPECT_FALSE(DecodeContinue(EncodeContinue(5, start)).has_value()) << start;
  }
}

}  // namespace
}  // namespace keelson::storage
