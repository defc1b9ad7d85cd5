#include "rest/options.h"

#include <gtest/gtest.h>

namespace keelson::rest {
namespace {

std::string ListError(std::string_view query) {
  auto options = ReadListOptions(http::Query(query));
  return options ? "" : options.error().message;
}

TEST(ListOptions, ReadsEveryParameter) {
  auto options = ReadListOptions(
      http::Query("labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&resourceVersion=5&"
                  "resourceVersionMatch=Exact&timeoutSeconds=30&limit=500&continue=&unknown=1"));
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->label_selector, "a=b");
  EXPECT_EQ(options->field_selector, "metadata.name=x");
  EXPECT_EQ(options->resource_version, "5");
  EXPECT_EQ(options->timeout_seconds, 30);
  EXPECT_EQ(options->limit, 500);
  EXPECT_FALSE(options->watch);
}

TEST(ListOptions, BooleansAreTrueUnlessAbsentZeroOrFalse) {
  EXPECT_TRUE(ReadListOptions(http::Query("watch=notabool"))->watch);
  EXPECT_TRUE(ReadListOptions(http::Query("watch"))->watch);
  EXPECT_FALSE(ReadListOptions(http::Query("watch=0"))->watch);
  EXPECT_FALSE(ReadListOptions(http::Query("watch=false"))->watch);
}

TEST(ListOptions, RefusesBadNumbers) {
  EXPECT_EQ(ListError("limit=abc"), "strconv.ParseInt: parsing \"abc\": invalid syntax");
  EXPECT_EQ(ListError("timeoutSeconds=99999999999999999999"),
            "strconv.ParseInt: parsing \"99999999999999999999\": value out of range");
  EXPECT_EQ(ListError("limit=-1"), "");
}

TEST(ListOptions, ChecksResourceVersionMatch) {
  const std::string prefix = "ListOptions.meta.k8s.io \"\" is invalid: ";
  EXPECT_EQ(ListError("resourceVersionMatch=Exact"),
            prefix +
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
                "resourceVersion is provided");
  EXPECT_EQ(ListError("resourceVersion=0&resourceVersionMatch=Exact"),
            prefix +
                "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for "
                "resourceVersion \"0\"");
  EXPECT_EQ(ListError("resourceVersion=1&resourceVersionMatch=Foo"),
            prefix +
                "resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"Exact\", "
                "\"NotOlderThan\", \"\"");
  EXPECT_EQ(ListError("sendInitialEvents=true"),
            prefix + "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
}

TEST(ListOptions, ChecksWatches) {
  const std::string prefix = "ListOptions.meta.k8s.io \"\" is invalid: ";
  EXPECT_EQ(ListError("watch=1&sendInitialEvents=true"),
            prefix +
                "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
                "resourceVersionMatch to NotOlderThan");
  EXPECT_EQ(ListError("watch=1&resourceVersionMatch=Exact"),
            prefix +
                "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch "
                "unless sendInitialEvents is provided, resourceVersionMatch: Unsupported value: "
                "\"Exact\": supported values: \"NotOlderThan\"]");
  EXPECT_EQ(ListError("watch=1&continue=abc"),
            prefix +
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue "
                "is provided");
}

TEST(ListOptions, AWatchFromNowhereBeginsWithWhatIsThere) {
  EXPECT_EQ(ReadListOptions(http::Query("watch=1"))->send_initial_events, true);
  EXPECT_EQ(ReadListOptions(http::Query("watch=1&resourceVersion=0"))->send_initial_events, true);
  EXPECT_EQ(ReadListOptions(http::Query("watch=1&resourceVersion=7"))->send_initial_events,
            std::nullopt);
}

TEST(WriteOptions, ChecksDryRunManagerAndValidation) {
  EXPECT_TRUE(ReadCreateOptions(http::Query("dryRun=All"))->is_dry_run());
  EXPECT_EQ(ReadCreateOptions(http::Query("dryRun=None")).error().message,
            "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"None\"]: "
            "supported values: \"All\"");
  EXPECT_EQ(ReadUpdateOptions(http::Query("fieldManager=%01")).error().message,
            "UpdateOptions.meta.k8s.io \"\" is invalid: fieldManager: Invalid value: \"\\x01\": "
            "invalid character U+0001 (at position 0)");
  EXPECT_EQ(ReadCreateOptions(http::Query("fieldValidation=Bogus")).error().message,
            "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: "
            "\"Bogus\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
  EXPECT_EQ(ReadCreateOptions(http::Query("fieldManager=" + std::string(129, 'x'))).error().message,
            "CreateOptions.meta.k8s.io \"\" is invalid: fieldManager: Too long: may not be more "
            "than 128 bytes");
}

TEST(WriteOptions, ValidationWarnsByDefault) {
  EXPECT_EQ(ReadCreateOptions(http::Query(""))->validation(), FieldValidation::kWarn);
  EXPECT_EQ(ReadCreateOptions(http::Query("fieldValidation=Strict"))->validation(),
            FieldValidation::kStrict);
  EXPECT_EQ(ReadCreateOptions(http::Query("fieldValidation=Ignore"))->validation(),
            FieldValidation::kIgnore);
}

TEST(PatchOptions, ApplyNeedsAManagerAndOthersKnowNoForce) {
  EXPECT_EQ(ReadPatchOptions(http::Query(""), PatchType::kApply).error().message,
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required "
            "for apply patch");
  EXPECT_EQ(ReadPatchOptions(http::Query("force=true"), PatchType::kMergePatch).error().message,
            "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for "
            "non-apply patch");
  EXPECT_EQ(ReadPatchOptions(http::Query("fieldManager=m&force=1"), PatchType::kApply)->force,
            true);
}

TEST(DeleteOptions, ChecksPropagation) {
  auto options = ReadDeleteOptions(http::Query("gracePeriodSeconds=0&propagationPolicy=Orphan"));
  EXPECT_EQ(options->grace_period_seconds, 0);
  EXPECT_EQ(ReadDeleteOptions(http::Query("propagationPolicy=Foo")).error().message,
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: "
            "\"Foo\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"");
  EXPECT_EQ(ReadDeleteOptions(http::Query("propagationPolicy=Orphan&orphanDependents=true"))
                .error()
                .message,
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: "
            "\"Orphan\": orphanDependents and deletionPropagation cannot be both set");
}

TEST(ManagerFromUserAgent, TakesTheProgramsName) {
  EXPECT_EQ(ManagerFromUserAgent("kubectl/v1.36.4 (linux/amd64)"), "kubectl");
  EXPECT_EQ(ManagerFromUserAgent("a\x01 b\xc2\xa0"
                                 "c"),
            "a bc");
  EXPECT_EQ(ManagerFromUserAgent(std::string(200, 'x')).size(), 128u);
  EXPECT_EQ(ManagerFromUserAgent(""), "");
}

}  // namespace
}  // namespace keelson::rest
