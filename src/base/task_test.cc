#include "base/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>

#include "base/completion.h"
#include "base/executor.h"
#include "base/gate.h"

namespace keelson {
namespace {

Task<int> Add(int a, int b) { co_return a + b; }

Task<int> CountDown(int n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await CountDown(n - 1);
}

Task<int> Throw() {
  throw std::runtime_error("broken");
  co_return 0;
}

Task<void> Store(Task<int> task, int& out) { out = co_await std::move(task); }

Task<void> StoreOrCatch(Task<int> task, std::string& caught) {
  try {
    co_await std::move(task);
  } catch (const std::exception& e) {
    caught = e.what();
  }
}

Task<void> WaitFor(std::shared_ptr<Completion<int>> slot, int& out, Executor*& resumed_on) {
  out = co_await Completion<int>::Wait(slot);
  resumed_on = Executor::Current();
}

class TaskTest : public testing::Test {
 protected:
  void Run(Task<void> task) {
    ASSERT_TRUE(gate_.Spawn(&executor_, std::move(task)));
    executor_.RunUntilIdle();
  }
  ~TaskTest() override { gate_.CloseAndWait(); }

  ManualExecutor executor_;
  Gate gate_;
};

TEST_F(TaskTest, DeliversItsValueToTheAwaiter) {
  int sum = 0;
  Run(Store(Add(2, 3), sum));
  EXPECT_EQ(sum, 5);
}

TEST_F(TaskTest, ChainsDeepWithoutGrowingTheStack) {
  int count = 0;
  Run(Store(CountDown(10000), count));
  EXPECT_EQ(count, 10000);
}

TEST_F(TaskTest, DeliversItsExceptionToTheAwaiter) {
  std::string caught;
  Run(StoreOrCatch(Throw(), caught));
  EXPECT_EQ(caught, "broken");
}

TEST_F(TaskTest, DoesNothingUnlessAwaited) {
  int out = 7;
  {
    auto dropped = Store(Add(1, 1), out);
  }
  EXPECT_EQ(out, 7);
}

TEST_F(TaskTest, CompletionResumesTheWaiterOnItsOwnExecutor) {
  auto slot = Completion<int>::Create();
  int out = 0;
  Executor* resumed_on = nullptr;
  Run(WaitFor(slot, out, resumed_on));
  EXPECT_EQ(out, 0);
  std::thread([slot] { slot->Set(42); }).join();
  EXPECT_EQ(out, 0) << "must not run on the foreign thread";
  executor_.RunUntilIdle();
  EXPECT_EQ(out, 42);
  EXPECT_EQ(resumed_on, &executor_);
}

TEST_F(TaskTest, CompletionTakesTheFirstValueOnly) {
  auto slot = Completion<int>::Create();
  EXPECT_TRUE(slot->Set(1));
  EXPECT_FALSE(slot->Set(2));
  int out = 0;
  Executor* resumed_on = nullptr;
  Run(WaitFor(slot, out, resumed_on));
  EXPECT_EQ(out, 1);
}

}  // namespace
}  // namespace keelson
