#include "base/ip_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keelson {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Reprint(std::string_view text) {
  auto address = IpAddress::Parse(text);
  return address ? address->ToString() : "invalid";
}

TEST(IpAddress, IsPrintedAsGoDoes) {
  EXPECT_EQ(Reprint("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(Reprint("010.000.0.001"), "10.0.0.1");
  EXPECT_EQ(Reprint("2001:DB8:0:0:0:0:0:1"), "2001:db8::1");
  EXPECT_EQ(Reprint("::ffff:1.2.3.4"), "1.2.3.4");
  EXPECT_EQ(Reprint("::1.2.3.4"), "::102:304");
  EXPECT_EQ(Reprint("::"), "::");
}

TEST(IpAddress, IsNotReadFromOtherText) {
  for (auto text : {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.a", "1.2.3.4 ", ":::", "1::2::3",
                    "fe80::1%eth0", "1.2.3.-4", "g::"}) {
    EXPECT_EQ(Reprint(text), "invalid") << text;
  }
}

TEST(IpAddress, AddsAndMasks) {
  auto address = *IpAddress::Parse("10.0.255.255");
  EXPECT_EQ(address.Plus(1).ToString(), "10.1.0.0");
  EXPECT_EQ(address.Masked(20).ToString(), "10.0.240.0");
  EXPECT_EQ(IpAddress::Parse("fd00::")->Last(112).ToString(), "fd00::ffff");
  EXPECT_EQ(IpAddress::Parse("fd00::ffff:ffff")->Plus(1).ToString(), "fd00::1:0:0");
}

TEST(IpPrefix, ContainsItsAddressesOnly) {
  auto prefix = *IpPrefix::Parse("10.96.0.0/12");
  EXPECT_TRUE(prefix.Contains(*IpAddress::Parse("10.111.255.255")));
  EXPECT_FALSE(prefix.Contains(*IpAddress::Parse("10.112.0.0")));
  EXPECT_FALSE(prefix.Contains(*IpAddress::Parse("::1")));
  EXPECT_EQ(IpPrefix::Parse("10.1.2.3/8")->ToString(), "10.0.0.0/8");
  EXPECT_FALSE(IpPrefix::Parse("10.0.0.0/33"));
  EXPECT_FALSE(IpPrefix::Parse("10.0.0.0"));
}

TEST(IpNames, ComplainInUpstreamsWords) {
  EXPECT_THAT(names::CheckIp("10.0.0.1"), IsEmpty());
  EXPECT_THAT(names::CheckIp("abc"),
              ElementsAre("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
  EXPECT_THAT(names::CheckIp("10.0.0.01"), ElementsAre("must not have leading 0s"));
  EXPECT_THAT(names::CheckIp("::ffff:10.0.0.1"),
              ElementsAre("must not be an IPv4-mapped IPv6 address"));
  EXPECT_THAT(names::CheckCanonicalIp("2001:DB8::1"),
              ElementsAre("must be in canonical form (\"2001:db8::1\")"));
  EXPECT_THAT(names::CheckCidr("10.0.0.1/8"),
              ElementsAre("must not have bits set beyond the prefix length"));
  EXPECT_THAT(names::CheckCidr("10.0.0.0/08"),
              ElementsAre("must not have leading 0s in IP or prefix length"));
  EXPECT_THAT(names::CheckEndpointIp("169.254.1.1"),
              ElementsAre("may not be in the link-local range (169.254.0.0/16, fe80::/10)"));
  EXPECT_THAT(names::CheckEndpointIp("0.0.0.0"), ElementsAre("may not be unspecified (0.0.0.0)"));
}

}  // namespace
}  // namespace keelson
