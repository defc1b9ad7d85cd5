#include "rest/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rest/testing_resource.h"

namespace keelson::rest {
namespace {

using http::FakeExchange;
using std::chrono::seconds;
using testing::TestResource;

TEST(HumanDuration, UsesTwoUnitsWhileTheFirstIsSmall) {
  constexpr std::pair<int64_t, std::string_view> kCases[] = {
      {-2, "<invalid>"},   {-1, "0s"},        {0, "0s"},          {119, "119s"},
      {120, "2m"},         {121, "2m1s"},     {599, "9m59s"},     {600, "10m"},
      {10799, "179m"},     {10800, "3h"},     {10860, "3h1m"},    {28799, "7h59m"},
      {28800, "8h"},       {172799, "47h"},   {172800, "2d"},     {180000, "2d2h"},
      {691199, "7d23h"},   {691200, "8d"},    {63071999, "729d"}, {63072000, "2y"},
      {70000000, "2y80d"}, {252288000, "8y"}, {300000000, "9y"},
  };
  for (const auto& [length, text] : kCases) EXPECT_EQ(HumanDuration(seconds(length)), text);
}

void Answer(const value::Value& object, Row& row) {
  row.Text(object["data"]["<k>"].AsString());
  row.Int(42);
}

constexpr Cell kCells[] = {kNameCell, ComputedCell(Answer, "data"), kAgeCell};
constexpr TablePrinter kPrinter{"", "configmaps", kCells};

class TableTest : public ::testing::Test {
 protected:
  void Store(TestResource& resource, std::string_view name) {
    resource.Store(fmt::format(
        R"({{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{}","namespace":"n",)"
        R"("uid":"u","creationTimestamp":"1970-01-01T00:00:00Z"}},"data":{{"\u003ck\u003e":"v"}}}})",
        name));
  }
  std::string Ask(TestResource& resource, std::string_view target,
                  std::string_view version = "v1") {
    FakeExchange fake("GET", target);
    fake.AddHeader("accept", fmt::format("application/json;as=Table;v={};g=meta.k8s.io", version));
    const bool list = !target.starts_with("/one");
    resource.Serve(fake, list ? &ResourceHandler::List : &ResourceHandler::Get, "n",
                   list ? "" : "a");
    std::string body = fake.body();
    if (!fake.finished()) {
      fake.ClientGone();
      resource.Settle(fake);
    }
    return body;
  }
  static std::string Rows(const std::string& body) {
    return body.substr(std::min(body.find("\"rows\":"), body.size()));
  }

  Strategy strategy_;
  TestResource printed_{"", "v1", "configmaps", strategy_, &kPrinter};
  TestResource plain_{"", "v1", "configmaps", strategy_};
};

TEST_F(TableTest, RowsHoldCellsAndMetadata) {
  Store(printed_, "a");
  const auto body = Ask(printed_, "/one");
  EXPECT_THAT(
      body, ::testing::StartsWith(R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":)"
                                  R"({"resourceVersion":"2"},"columnDefinitions":[{"name":"Name",)"
                                  R"("type":"string","format":"name","description":")"));
  EXPECT_EQ(Rows(body),
            R"("rows":[{"cells":["a","v",42,"56y"],"object":{"kind":"PartialObjectMetadata",)"
            R"("apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"n","uid":"u",)"
            R"("resourceVersion":"2","creationTimestamp":"1970-01-01T00:00:00Z"}}}]})"
            "\n");
}

TEST_F(TableTest, ColumnsAreDescribedByTheFieldTheyRead) {
  const auto& info = *api::kCatalog.Find("", "v1")->FindResource("configmaps");
  const TableLayout layout(info, &kPrinter);
  auto columns = value::ParseJson(layout.columns());
  ASSERT_TRUE(columns.has_value());
  ASSERT_EQ(columns->root().size(), 3u);  // name, data, age; the second cell of data has none
  const auto& data = *info.type->Find("data");
  EXPECT_EQ(columns->root().At(1)["description"].AsString(), data.description());
  EXPECT_NE(columns->root().At(0)["description"].AsString(), "");
}

TEST_F(TableTest, RowsShowAsMuchOfTheObjectAsWanted) {
  Store(printed_, "a");
  EXPECT_EQ(Rows(Ask(printed_, "/x?includeObject=None")),
            R"("rows":[{"cells":["a","v",42,"56y"],"object":null}]})"
            "\n");
  EXPECT_THAT(Ask(printed_, "/x?includeObject=Object"),
              ::testing::HasSubstr(R"("object":{"kind":"ConfigMap","apiVersion":"v1",)"));
  EXPECT_THAT(Ask(printed_, "/x", "v1beta1"),
              ::testing::HasSubstr(R"("object":{"kind":"PartialObjectMetadata",)"
                                   R"("apiVersion":"meta.k8s.io/v1beta1",)"));
  EXPECT_THAT(Ask(printed_, "/x?includeObject=All"),
              ::testing::HasSubstr("must be 'Metadata', 'Object', 'None', or empty"));
}

TEST_F(TableTest, ListsCarryTheirMetadata) {
  Store(printed_, "a");
  Store(printed_, "b");
  const auto body = Ask(printed_, "/x?limit=1");
  EXPECT_THAT(body, ::testing::HasSubstr(R"("metadata":{"resourceVersion":"3","continue":")"));
  EXPECT_THAT(body, ::testing::HasSubstr(R"("remainingItemCount":1},"columnDefinitions":[)"));
}

TEST_F(TableTest, KindsWithoutPrinterShowNameAndCreation) {
  EXPECT_THAT(Ask(plain_, "/x"), ::testing::HasSubstr(R"("rows":null})"));
  Store(plain_, "a");
  const auto body = Ask(plain_, "/x");
  EXPECT_THAT(body, ::testing::HasSubstr(R"({"name":"Created At","type":"date","format":"",)"));
  EXPECT_THAT(body, ::testing::HasSubstr(R"({"cells":["a","1970-01-01T00:00:00Z"],)"));
}

TEST_F(TableTest, WatchesNameTheColumnsOnce) {
  Store(printed_, "a");
  Store(printed_, "b");
  const auto body = Ask(printed_, "/x?watch=1&includeObject=None&allowWatchBookmarks=true");
  const auto second = body.find('\n') + 1;
  EXPECT_THAT(body.substr(0, second), ::testing::HasSubstr(R"("columnDefinitions":[{)"));
  EXPECT_THAT(body.substr(second),
              ::testing::StartsWith(R"({"type":"ADDED","object":{"kind":"Table","apiVersion":)"
                                    R"("meta.k8s.io/v1","metadata":{"resourceVersion":"3"},)"
                                    R"("columnDefinitions":null,"rows":[{"cells":["b",)"));
  // The bookmark's annotation stays although objects are not wanted.
  EXPECT_THAT(body, ::testing::HasSubstr(R"({"type":"BOOKMARK","object":{"kind":"Table",)"));
  EXPECT_THAT(body, ::testing::HasSubstr("k8s.io/initial-events-end"));
}

constexpr Cell kOrderCells[] = {kNameCell};
constexpr TablePrinter kOrdered{"", "configmaps", kOrderCells, "data.n"};

TEST_F(TableTest, ListsFollowTheOrderOfTheKind) {
  TestResource resource("", "v1", "configmaps", strategy_, &kOrdered);
  for (auto [name, n] : {std::pair{"a", 3}, {"b", 1}, {"c", 3}, {"d", 2}}) {
    resource.Store(fmt::format(
        R"({{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{}","namespace":"n",)"
        R"("uid":"u"}},"data":{{"n":{}}}}})",
        name, n));
  }
  const auto rows = Rows(Ask(resource, "/x?includeObject=None"));
  EXPECT_EQ(rows, R"("rows":[{"cells":["b"],"object":null},{"cells":["d"],"object":null},)"
                  R"({"cells":["a"],"object":null},{"cells":["c"],"object":null}]})"
                  "\n");
}

}  // namespace
}  // namespace keelson::rest
