#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/gate.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/status.h"

namespace keelson {
namespace {

Task<void> Nap(Clock& clock, Duration duration, int& naps) {
  if (co_await SleepFor(clock, duration)) ++naps;
}

TEST(Gate, ClosesWhenItsTasksHaveFinished) {
  FakeClock clock;
  ManualExecutor executor;
  Gate gate;
  int naps = 0;
  gate.Spawn(&executor, Nap(clock, std::chrono::seconds(1), naps));
  gate.Spawn(&executor, Nap(clock, std::chrono::seconds(2), naps));
  clock.Advance(std::chrono::seconds(1), [&] { executor.RunUntilIdle(); });
  EXPECT_EQ(naps, 1);
  clock.Advance(std::chrono::seconds(1), [&] { executor.RunUntilIdle(); });
  EXPECT_EQ(naps, 2);
  gate.CloseAndWait();
  EXPECT_FALSE(gate.Spawn(&executor, Nap(clock, std::chrono::seconds(1), naps)));
}

TEST(Log, WritesKlogLines) {
  log::Capture capture;
  log::InfoS("shutdown event", {{"name", "A\nB"}});
  EXPECT_NE(capture.text().find("base_smoke_test.cc:"), std::string::npos);
  EXPECT_NE(capture.text().find("] \"shutdown event\" name=\"A\\nB\"\n"), std::string::npos);
}

TEST(Status, WritesUpstreamsJson) {
  EXPECT_EQ(NotFoundStatus({"apps", "deployments"}, "a<b").ToJson(),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"deployments.apps \"a\u003cb\" not found","reason":"NotFound",)"
            R"("details":{"name":"a\u003cb","group":"apps","kind":"deployments"},"code":404})");
}

TEST(Ids, UuidHasVersionAndVariant) {
  auto uuid = NewUuid();
  ASSERT_EQ(uuid.size(), 36u);
  EXPECT_EQ(uuid[14], '4');
}

}  // namespace
}  // namespace keelson
