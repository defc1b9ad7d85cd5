#include "aggregator/api_services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rest/kind_rules.h"
#include "rest/testing_resource.h"

namespace keelson::aggregator {
namespace {

using rest::testing::TestResource;
using ::testing::Contains;
using ::testing::Not;

class ApiServicesTest : public ::testing::Test {
 protected:
  ApiServicesTest() {
    services_.Start();
    resource_.executor().RunUntilIdle();
  }
  ~ApiServicesTest() override { resource_.Run(services_.Stop()); }

  static Task<void> Expect(Task<Result<void>> task) {
    auto done = co_await std::move(task);
    EXPECT_TRUE(done.has_value());
  }
  static Task<void> Delete(storage::ObjectStore& store, std::string name) {
    auto deleted = co_await store.Delete("", std::move(name));
    EXPECT_TRUE(deleted.has_value());
  }

  const rest::RuleStrategy strategy_{rest::KindRules{.name_check = names::NameIsPathSegment}};
  TestResource resource_{kGroup, "v1", kApiServices, strategy_};
  server::PathMux mux_;
  ApiServices services_{resource_.spec(), mux_, resource_.executor()};
};

TEST_F(ApiServicesTest, RegistersWhatIsServedHere) {
  resource_.Run(Expect(services_.RegisterLocal()));
  const auto snapshot = resource_.objects().cache().snapshot();
  ASSERT_TRUE(static_cast<bool>(snapshot));
  std::vector<std::string> names;
  for (const auto& version : api::kCatalog.group_versions()) {
    http::FakeExchange fake("GET", "/x");
    const auto name = fmt::format("{}.{}", version.version, version.group);
    resource_.Serve(fake, &rest::ResourceHandler::Get, "", name);
    if (fake.status() == 200) names.push_back(name);
  }
  EXPECT_THAT(names, Contains("v1."));
  EXPECT_THAT(names, Contains("v1.apps"));
  EXPECT_THAT(names, Not(Contains("v1.apiregistration.k8s.io")));
}

TEST_F(ApiServicesTest, RoutesOtherGroupsAsLongAsTheyAreThere) {
  resource_.Store(R"({"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":)"
                  R"({"name":"v1.x.io","uid":"u"},"spec":{"group":"x.io","version":"v1",)"
                  R"("service":{"name":"s","namespace":"n"}}})");
  resource_.executor().RunUntilIdle();
  EXPECT_THAT(mux_.ListedPaths(), Contains("/apis/x.io/v1"));
  resource_.Run(Delete(resource_.objects(), "v1.x.io"));
  resource_.executor().RunUntilIdle();
  EXPECT_THAT(mux_.ListedPaths(), Not(Contains("/apis/x.io/v1")));
}

}  // namespace
}  // namespace keelson::aggregator
