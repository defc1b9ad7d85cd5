#include "apiextensions/version_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace keelson::apiextensions {
namespace {

TEST(VersionOrder, PrefersStableThenNewer) {
  std::vector<std::string_view> versions{"foo1",     "v1alpha1", "v1",       "v11alpha2",
                                         "v2",       "v3beta1",  "v12",      "foo",
                                         "v10beta3", "v0",       "v1beta01", "v1beta"};
  std::ranges::sort(versions, IsPreferredVersion);
  EXPECT_THAT(versions,
              ::testing::ElementsAre("v12", "v2", "v1", "v10beta3", "v3beta1", "v1beta",
                                     "v11alpha2", "v1alpha1", "foo", "foo1", "v0", "v1beta01"));
}

}  // namespace
}  // namespace keelson::apiextensions
