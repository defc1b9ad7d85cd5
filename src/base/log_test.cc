#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace keelson::log {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Log, WritesKlogsHeader) {
  Capture capture;
  Info("listening on {}", 6443);
  EXPECT_TRUE(std::regex_match(
      capture.text(),
      std::regex(R"(I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ log_test\.cc:\d+\] listening on 6443\n)")))
      << capture.text();
}

TEST(Log, QuotesStructuredValues) {
  Capture capture;
  ErrorS("hook failed", {{"name", "a"}, {"err", "no \"x\"\tat all"}, {"count", 3}});
  EXPECT_THAT(capture.text(),
              EndsWith("] \"hook failed\" name=\"a\" err=\"no \\\"x\\\"\\tat all\" count=\"3\"\n"));
  EXPECT_EQ(capture.text()[0], 'E');
}

TEST(Log, ClientsCannotForgeLines) {
  Capture capture;
  Warning("bad path {}", "/a\nI0101 forged");
  WarningS("bad path", {{"path", "/a\nI0101 forged\x1b"}});
  EXPECT_THAT(capture.text(), Not(HasSubstr("\nI0101")));
  EXPECT_THAT(capture.text(), HasSubstr("/a\\nI0101 forged\\x1b"));
}

TEST(Log, VerbosityGates) {
  const int before = Verbosity();
  SetVerbosity(2);
  EXPECT_TRUE(V(2));
  EXPECT_FALSE(V(3));
  SetVerbosity(before);
}

}  // namespace
}  // namespace keelson::log
