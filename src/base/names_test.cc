#include "base/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keelson::names {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct Sample {
  Complaints (*check)(std::string_view);
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

TEST(Names, EachRuleAcceptsAndRefuses) {
  const std::string x63(63, 'x');
  const std::string x64(64, 'x');
  const Sample samples[] = {
      {CheckDns1123Label, {"a", "0", "a-b", "1a", x63}, {"", "-a", "a-", "A", "a.b", "a_b", x64}},
      {CheckDns1123Subdomain,
       {"a", "a.b", "1.2-3.x", std::string(253, 'x')},
       {"", ".", "a.", ".a", "a..b", "A", "a_b", std::string(254, 'x')}},
      {CheckDns1123SubdomainWithUnderscore, {"_a.b_c", "a"}, {"__a", "a_", "_"}},
      {CheckDns1035Label, {"a", "a1", "a-1"}, {"1a", "", "a-", x64}},
      {CheckWildcardDns1123Subdomain, {"*.a", "*.a.b"}, {"*", "*.", "a.b", "*.*.a"}},
      {CheckQualifiedName,
       {"a", "A_b.c", "example.com/a", x63},
       {"", "/a", "a/", "a/b/c", "-a", "Ex.com/a", x64}},
      {CheckLabelValue, {"", "a", "A.b_c-d", x63}, {"-a", "a-", "a b", x64}},
      {CheckCIdentifier, {"_", "a1", "_A"}, {"", "1a", "a-b"}},
      {CheckPortName,
       {"http", "a-1", "1a"},
       {"", "1", "a--b", "-a", "a-", "A", "abcdefghijklmnop"}},
      {CheckPercent, {"0%", "100%"}, {"%", "1", "-1%", "1.5%", ""}},
      {CheckHttpHeaderName, {"X-A", "a"}, {"", "a_b", "a:"}},
      {CheckEnvVarName, {"A", "a.b-c_1", ".a"}, {"", "1A", "a b", "..a"}},
      {CheckRelaxedEnvVarName, {"1 A", "$"}, {"", "a=b", "a\t", "\xc3\xa9"}},
      {CheckConfigMapKey, {"a", ".a", "A_b"}, {"", ".", "..", "..a", "a/b"}},
      {CheckPathSegment, {"a:b", "..."}, {".", "..", "a/b", "a%b"}},
  };
  for (const auto& [check, good, bad] : samples) {
    for (const auto& text : good) EXPECT_THAT(check(text), IsEmpty()) << text;
    for (const auto& text : bad) EXPECT_THAT(check(text), testing::Not(IsEmpty())) << text;
  }
}

TEST(Names, ComplaintsUseUpstreamsWords) {
  EXPECT_THAT(CheckDns1123Label("a.b"), ElementsAre("must not contain dots"));
  EXPECT_THAT(
      CheckDns1123Label("A"),
      ElementsAre("a lowercase RFC 1123 label must consist of lower case alphanumeric "
                  "characters or '-', and must start and end with an alphanumeric character "
                  "(e.g. 'my-name',  or '123-abc', regex used for validation is "
                  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"));
  EXPECT_THAT(CheckDns1123Subdomain(std::string(254, 'x')),
              ElementsAre("must be no more than 253 characters"));
  EXPECT_THAT(CheckLabelValue(std::string(64, 'x')), ElementsAre("must be no more than 63 bytes"));
  EXPECT_THAT(
      CheckQualifiedName("a/b/c"),
      ElementsAre("a valid label key must consist of alphanumeric characters, '-', '_' or '.', and "
                  "must start and end with an alphanumeric character (e.g. 'MyName',  or "
                  "'my.name',  or '123-abc', regex used for validation is "
                  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain "
                  "prefix and '/' (e.g. 'example.com/MyName')"));
  EXPECT_THAT(CheckQualifiedName("/"), SizeIs(3));
  EXPECT_THAT(CheckPathSegment("a%/b"), ElementsAre("may not contain '/'", "may not contain '%'"));
  EXPECT_THAT(CheckPathSegment(".."), ElementsAre("may not be '..'"));
  EXPECT_THAT(CheckPortNumber(0), ElementsAre("must be between 1 and 65535, inclusive"));
  EXPECT_THAT(CheckConfigMapKey(".."), ElementsAre("must not be '..'"));
}

TEST(Names, GenerateNameMayEndInADash) {
  EXPECT_THAT(NameIsDnsSubdomain("web-", true), IsEmpty());
  EXPECT_THAT(NameIsDnsSubdomain("web-", false), SizeIs(1));
  EXPECT_THAT(NameIsDnsLabel("-", true), SizeIs(1));
  EXPECT_THAT(NameIsPathSegment("..", true), IsEmpty());
}

}  // namespace
}  // namespace keelson::names
