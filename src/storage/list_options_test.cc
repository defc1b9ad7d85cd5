#include "storage/list_options.h"

#include <gtest/gtest.h>

#include "storage/resource_keys.h"

namespace keelson::storage {
namespace {

std::string ErrorOf(ListOptions options, bool is_watch = false) {
  auto status = ValidateOptions(options, is_watch);
  if (!status) return "";
  EXPECT_EQ(status->code, 422);
  constexpr std::string_view kOpen = "ListOptions.meta.k8s.io \"\" is invalid: ";
  EXPECT_TRUE(status->message.starts_with(kOpen));
  return status->message.substr(kOpen.size());
}

TEST(ListOptions, RefuseContradictionsInUpstreamsWords) {
  EXPECT_EQ(ErrorOf({.resource_version_match = "Exact"}),
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
            "resourceVersion is "
            "provided");
  EXPECT_EQ(ErrorOf({.resource_version = "0", .resource_version_match = "Exact"}),
            "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for "
            "resourceVersion \"0\"");
  EXPECT_EQ(ErrorOf({.resource_version = "1", .resource_version_match = "Foo"}),
            "resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"Exact\", "
            "\"NotOlderThan\", \"\"");
  EXPECT_EQ(ErrorOf({.send_initial_events = true}),
            "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
  EXPECT_EQ(
      ErrorOf({.send_initial_events = true}, true),
      "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
      "NotOlderThan");
  EXPECT_EQ(ErrorOf({.resource_version_match = "Exact"}, true),
            "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless "
            "sendInitialEvents is provided, resourceVersionMatch: Unsupported value: \"Exact\": "
            "supported "
            "values: \"NotOlderThan\"]");
  EXPECT_EQ(ErrorOf({}), "");
  EXPECT_EQ(ErrorOf({.resource_version = "5", .resource_version_match = "NotOlderThan"}), "");
}

TEST(ListOptions, WatchFromNowhereBeginsWithTheState) {
  ListOptions options{.continue_token = "abc"};
  DefaultWatchOptions(options);
  EXPECT_EQ(options.send_initial_events, true);
  EXPECT_EQ(ErrorOf(options, true),
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is "
            "provided");
  ListOptions at{.resource_version = "7"};
  DefaultWatchOptions(at);
  EXPECT_EQ(at.send_initial_events, std::nullopt);
}

TEST(ResourceKeys, FollowUpstreamsLayout) {
  EXPECT_EQ(ResourcePrefix({"", "pods"}, true), "pods");
  EXPECT_EQ(ResourcePrefix({"", "nodes"}, true), "minions");
  EXPECT_EQ(ResourcePrefix({"", "services"}, true), "services/specs");
  EXPECT_EQ(ResourcePrefix({"", "endpoints"}, true), "services/endpoints");
  EXPECT_EQ(ResourcePrefix({"", "replicationcontrollers"}, true), "controllers");
  EXPECT_EQ(ResourcePrefix({"networking.k8s.io", "ingresses"}, true), "ingress");
  EXPECT_EQ(ResourcePrefix({"apps", "deployments"}, true), "deployments");
  EXPECT_EQ(ResourcePrefix({"apiregistration.k8s.io", "apiservices"}, true),
            "apiregistration.k8s.io/apiservices");
  EXPECT_EQ(ResourcePrefix({"facts.example.com", "gadgets"}, false), "facts.example.com/gadgets");
  EXPECT_EQ(RelativeKey("ns", "n"), "ns/n");
  EXPECT_EQ(RelativeKey("", "n"), "n");
}

}  // namespace
}  // namespace keelson::storage
