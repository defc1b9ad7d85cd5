#include "kube/built_in_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/catalog.h"
#include "base/executor.h"
#include "base/gate.h"
#include "kube/strategies.h"
#include "kv/memory_store.h"

namespace keelson::kube {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

class BuiltInApiTest : public ::testing::Test {
 protected:
  ~BuiltInApiTest() override { Run(store_->Close()); }

  std::vector<std::string> PathsWith(bool discovery) {
    server::PathMux mux;
    BuiltInApi api({.catalog = api::kCatalog,
                    .store = *store_,
                    .feed = feed_,
                    .clock = clock_,
                    .kinds = BuiltInKinds()});
    api.Install(mux, {.discovery = discovery});
    return mux.ListedPaths();
  }

  void Run(Task<void> task) {
    Gate gate;
    gate.Spawn(&executor_, std::move(task));
    executor_.RunUntilIdle();
    gate.CloseAndWait();
  }

  FakeClock clock_;
  ManualExecutor executor_;
  std::unique_ptr<kv::Store> store_ = kv::NewMemoryStore(clock_);
  storage::CacheFeed feed_{store_.get(), &executor_, &clock_};
};

TEST_F(BuiltInApiTest, RegistersEveryGroupAndTheListOfThem) {
  EXPECT_THAT(PathsWith(true), IsSupersetOf({"/api", "/apis", "/apis/apps", "/apis/batch"}));
}

TEST_F(BuiltInApiTest, WithoutDiscoveryGroupsAreServedButNotListed) {
  const auto paths = PathsWith(false);
  EXPECT_THAT(paths, IsSupersetOf({"/api", "/apis/apps", "/apis/batch"}));
  EXPECT_THAT(paths, Not(Contains("/apis")));
}

}  // namespace
}  // namespace keelson::kube
