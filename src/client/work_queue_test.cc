#include "client/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/gate.h"

namespace keelson::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WorkQueueTest : public ::testing::Test {
 protected:
  ~WorkQueueTest() override {
    queue_.ShutDown();
    Settle();
    gate_.CloseAndWait();
  }
  // Takes one key; it shows up in got_ as soon as there is one.
  void Take() {
    const auto take = [](WorkQueue* queue, std::vector<std::string>* got) -> Task<void> {
      auto key = co_await queue->Get();
      got->push_back(key ? *key : "(end)");
    };
    gate_.Spawn(&executor_, take(&queue_, &got_));
    Settle();
  }
  void Settle() { executor_.RunUntilIdle(); }
  void Pass(Duration time) {
    clock_.Advance(time, [&] { Settle(); });
  }

  FakeClock clock_;
  ManualExecutor executor_;
  WorkQueue queue_{clock_};
  std::vector<std::string> got_;
  Gate gate_;
};

TEST_F(WorkQueueTest, HandsOutInOrderAndEachOnce) {
  for (auto key : {"a", "b", "a", "c", "b"}) queue_.Add(key);
  EXPECT_EQ(queue_.size(), 3u);
  for (int i = 0; i < 4; ++i) Take();
  EXPECT_THAT(got_, ElementsAre("a", "b", "c"));
  queue_.Add("d");
  Settle();
  EXPECT_THAT(got_, ElementsAre("a", "b", "c", "d"));
}

TEST_F(WorkQueueTest, NobodyGetsWhatAnotherWorksOn) {
  queue_.Add("a");
  Take();
  queue_.Add("a");
  queue_.Add("a");
  Take();
  EXPECT_THAT(got_, ElementsAre("a"));
  queue_.Done("a");
  Settle();
  EXPECT_THAT(got_, ElementsAre("a", "a"));
  queue_.Done("a");
  Take();
  EXPECT_THAT(got_, ElementsAre("a", "a"));
}

TEST_F(WorkQueueTest, FailuresComeBackLaterAndLater) {
  Take();
  queue_.AddRateLimited("a");
  Pass(milliseconds(4));
  EXPECT_THAT(got_, IsEmpty());
  Pass(milliseconds(1));
  EXPECT_THAT(got_, ElementsAre("a"));
  queue_.Done("a");
  for (int failures = 1; failures < 30; ++failures) queue_.AddRateLimited("b");
  EXPECT_EQ(queue_.Failures("b"), 29);
  queue_.AddRateLimited("a");
  Take();
  Pass(milliseconds(5));
  EXPECT_THAT(got_, ElementsAre("a", "b"));
  Take();
  Pass(milliseconds(5));
  EXPECT_THAT(got_, ElementsAre("a", "b", "a"));
  queue_.Forget("a");
  EXPECT_EQ(queue_.Failures("a"), 0);
}

TEST_F(WorkQueueTest, ADelayNeverPassesTheLongest) {
  WorkQueue queue(clock_, {.longest_delay = seconds(1)});
  for (int i = 0; i < 60; ++i) {
    queue.AddRateLimited("a");
    clock_.Advance(seconds(1));
  }
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.Failures("a"), 60);
}

TEST_F(WorkQueueTest, TheBucketSlowsTheManyDown) {
  WorkQueue queue(clock_, {.per_second = 10, .burst = 2});
  for (int i = 0; i < 12; ++i) queue.AddRateLimited(std::to_string(i));
  clock_.Advance(milliseconds(10));
  EXPECT_EQ(queue.size(), 2u);
  clock_.Advance(milliseconds(500));
  EXPECT_EQ(queue.size(), 7u);
  clock_.Advance(milliseconds(500));
  EXPECT_EQ(queue.size(), 12u);
}

TEST_F(WorkQueueTest, ShutDownEndsTheWorkersWhenAllIsHandedOut) {
  queue_.Add("a");
  queue_.ShutDown();
  queue_.Add("b");
  Take();
  Take();
  EXPECT_THAT(got_, ElementsAre("a", "(end)"));
}

}  // namespace
}  // namespace keelson::client
