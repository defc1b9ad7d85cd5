#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <latch>
#include <thread>

#include "profile/profile.h"
#include "profile/testing/pprof_reader.h"

namespace keelson::profile {

__attribute__((noinline)) void WaitInHere(std::latch& there, std::latch& leave) {
  there.count_down();
  leave.wait();
  asm volatile("");
}

namespace {

// ThreadSanitizer holds signals back from a thread until its next intercepted call, which a
// sleeping thread does not make.
#if __has_feature(thread_sanitizer)
#define SKIP_WHERE_SIGNALS_WAIT() GTEST_SKIP() << "signals do not reach sleeping threads"
#else
#define SKIP_WHERE_SIGNALS_WAIT()
#endif

class SleepingThread {
 public:
  SleepingThread() {
    pthread_setname_np(thread_.native_handle(), "sleeper");
    there_.wait();
    while (State() != 'S') std::this_thread::yield();  // on its way from there to the wait
  }
  ~SleepingThread() { leave_.count_down(); }

 private:
  char State() const {
    std::ifstream file(fmt::format("/proc/self/task/{}/stat", id_.load()));
    std::string line;
    std::getline(file, line);
    return line.at(line.rfind(')') + 2);
  }

  std::latch there_{1}, leave_{1};
  std::atomic<pid_t> id_{0};
  std::jthread thread_{[this] {
    id_ = static_cast<pid_t>(::syscall(SYS_gettid));
    WaitInHere(there_, leave_);
  }};
};

TEST(ThreadList, NamesThreadsAndTheirStacks) {
  SKIP_WHERE_SIGNALS_WAIT();
  SleepingThread sleeper;
  auto text = Await(ThreadList());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(text->find("\"sleeper\" cpu 0.00s:\n"), std::string::npos) << *text;
  EXPECT_NE(text->find(" keelson::profile::WaitInHere\n"), std::string::npos) << *text;
}

TEST(ThreadProfile, CountsThreadsByStack) {
  SKIP_WHERE_SIGNALS_WAIT();
  SleepingThread one, two;
  auto bytes = Await(ThreadProfile());
  ASSERT_TRUE(bytes);
  auto profile = ReadPprof(*bytes);
  EXPECT_EQ(profile.sample_types, (std::vector<std::string>{"goroutine/count"}));
  EXPECT_GE(profile.Total(0), 3);
  EXPECT_EQ(profile.Total(0, "WaitInHere"), 2);
}

TEST(Symbol, AnswersAsPprofAsks) {
  EXPECT_EQ(Await(Symbol("")), std::string("num_symbols: 1\n"));
  auto address = fmt::format("{:#x}", reinterpret_cast<uintptr_t>(&WaitInHere));
  EXPECT_EQ(Await(Symbol("0x1+" + address + "+zzz")), address + " keelson::profile::WaitInHere\n");
}

TEST(CommandLine, HasTheProgramFirstAndNoTrailingNul) {
  auto line = *CommandLine();
  EXPECT_TRUE(line.substr(0, line.find('\0')).ends_with("profile_test"));
  EXPECT_NE(line.back(), '\0');
}

TEST(Trace, IsRefused) { EXPECT_EQ(Trace().error().code, ErrorCode::kUnsupported); }

}  // namespace
}  // namespace keelson::profile
