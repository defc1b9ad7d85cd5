#include "server/hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/log.h"

namespace keelson::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Task<Result<void>> Succeed() { co_return Result<void>(); }
Task<Result<void>> FailWith(std::string message) {
  co_return Fail(ErrorCode::kInternal, "{}", message);
}
Task<Result<void>> Throw() {
  throw std::runtime_error("accident");
  co_return Result<void>();
}

PostStartHook Hook() {
  return [](PostStartHookContext) { return Succeed(); };
}

std::string ErrorOf(const auto& result) { return result ? "" : result.error().message; }

TEST(PostStartHooks, RefuseInUpstreamsWords) {
  PostStartHooks hooks({"off"});
  auto here = std::source_location::current();
  EXPECT_EQ(ErrorOf(hooks.Add("", Hook(), here)), "missing name");
  EXPECT_EQ(ErrorOf(hooks.Add("a", nullptr, here)), R"(hook func may not be nil: "a")");
  auto skipped = hooks.Add("off", Hook(), here);
  ASSERT_TRUE(skipped.has_value());
  EXPECT_EQ(*skipped, nullptr);
  EXPECT_FALSE(hooks.Has("off"));
  EXPECT_TRUE(hooks.Add("a", Hook(), here).has_value());
  EXPECT_THAT(
      ErrorOf(hooks.Add("a", Hook(), here)),
      HasSubstr(fmt::format("unable to add \"a\" because it was already registered by: {}:{}",
                            here.file_name(), here.line())));
  Gate gate;
  ManualExecutor executor;
  hooks.Run(gate, executor, {}, [](std::string) {});
  executor.RunUntilIdle();
  EXPECT_EQ(ErrorOf(hooks.Add("b", Hook(), here)),
            R"(unable to add "b" because PostStartHooks have already been called)");
  gate.CloseAndWait();
}

TEST(PostStartHooks, ErrorIsFatalExceptionIsNot) {
  PostStartHooks hooks;
  auto here = std::source_location::current();
  auto good = *hooks.Add("good", Hook(), here);
  auto bad = *hooks.Add("bad", [](PostStartHookContext) { return FailWith("no store"); }, here);
  auto odd = *hooks.Add("odd", [](PostStartHookContext) { return Throw(); }, here);
  auto worse = *hooks.Add(
      "worse",
      [](PostStartHookContext) -> Task<Result<void>> {
        throw std::runtime_error("before the coroutine");
      },
      here);
  std::vector<std::string> fatal;
  Gate gate;
  ManualExecutor executor;
  log::Capture capture;
  hooks.Run(gate, executor, {}, [&](std::string message) { fatal.push_back(message); });
  EXPECT_FALSE(good->load());
  executor.RunUntilIdle();
  EXPECT_TRUE(good->load());
  EXPECT_FALSE(bad->load());
  EXPECT_TRUE(odd->load());
  EXPECT_TRUE(worse->load());
  EXPECT_THAT(fatal, ElementsAre(R"(PostStartHook "bad" failed: no store)"));
  EXPECT_THAT(capture.text(), HasSubstr("accident"));
  EXPECT_THAT(capture.text(), HasSubstr("before the coroutine"));
  gate.CloseAndWait();
}

TEST(PostStartHooks, GetLoopbackConfigurationAndStopToken) {
  PostStartHooks hooks;
  PostStartHookContext seen;
  ASSERT_TRUE(hooks.Add(
      "a",
      [&](PostStartHookContext context) {
        seen = context;
        return Succeed();
      },
      std::source_location::current()));
  Gate gate;
  ManualExecutor executor;
  std::stop_source stop;
  auto loopback = std::make_shared<LoopbackClientConfig>();
  loopback->bearer_token = "t";
  hooks.Run(gate, executor, {loopback, stop.get_token()}, [](std::string) {});
  executor.RunUntilIdle();
  EXPECT_EQ(seen.loopback->bearer_token, "t");
  stop.request_stop();
  EXPECT_TRUE(seen.stop.stop_requested());
  gate.CloseAndWait();
}

TEST(PreShutdownHooks, AllRunAndErrorsAreJoined) {
  PreShutdownHooks hooks;
  std::vector<std::string> ran;
  auto note = [&](std::string name, Task<Result<void>> (*task)(std::string)) {
    return [&ran, name, task]() {
      ran.push_back(name);
      return task(name);
    };
  };
  EXPECT_EQ(ErrorOf(hooks.Add("", nullptr)), "missing name");
  EXPECT_TRUE(hooks.Add("none", nullptr).has_value());
  ASSERT_TRUE(hooks.Add("a", note("a", FailWith)));
  ASSERT_TRUE(hooks.Add("b", [&] {
    ran.push_back("b");
    return Throw();
  }));
  ASSERT_TRUE(hooks.Add("c", note("c", FailWith)));
  EXPECT_EQ(ErrorOf(hooks.Add("a", [] { return Succeed(); })),
            R"(unable to add "a" because it is already registered)");
  Gate gate;
  Result<void> result;
  struct Runner {
    static Task<void> Run(PreShutdownHooks& hooks, Result<void>& result) {
      result = co_await hooks.Run();
    }
  };
  log::Capture capture;
  gate.Spawn(nullptr, Runner::Run(hooks, result));
  EXPECT_THAT(ran, ElementsAre("a", "b", "c"));
  EXPECT_EQ(ErrorOf(result), R"([PreShutdownHook "a" failed: a, PreShutdownHook "c" failed: c])");
  EXPECT_EQ(ErrorOf(hooks.Add("d", [] { return Succeed(); })),
            R"(unable to add "d" because PreShutdownHooks have already been called)");
  gate.CloseAndWait();
}

}  // namespace
}  // namespace keelson::server
