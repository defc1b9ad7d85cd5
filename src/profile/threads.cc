// What every thread is doing: each is interrupted once by SIGPROF and leaves its stack.

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <thread>

#include "profile/aside.h"
#include "profile/encode.h"
#include "profile/profile.h"
#include "profile/sampler.h"

namespace keelson::profile {
namespace {

// A thread that has not answered by then sleeps uninterruptibly.
constexpr auto kPatience = std::chrono::milliseconds(200);

using Stacks = std::map<pid_t, std::vector<uintptr_t>>;

// Threads of libraries often block all signals and would be waited for in vain.
bool TakesSignal(pid_t thread) {
  std::ifstream file(fmt::format("/proc/self/task/{}/status", thread));
  constexpr std::string_view kBlocked = "SigBlk:\t";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kBlocked)) continue;
    uint64_t blocked = std::strtoull(line.c_str() + kBlocked.size(), nullptr, 16);
    return (blocked >> (SIGPROF - 1) & 1) == 0;
  }
  return false;
}

// Every thread but the asking one, which has nothing to tell.
Result<Stacks> Interrupt() {
  auto sampler = SignalSampler::Acquire();
  if (!sampler) return Fail(ErrorCode::kConflict, "cpu profiling already in use");
  Stacks stacks;
  size_t asked = 0;
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  for (pid_t thread : Threads()) {
    if (thread == self) continue;
    stacks[thread];
    if (TakesSignal(thread) && ::syscall(SYS_tgkill, ::getpid(), thread, SIGPROF) == 0) ++asked;
  }
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (size_t seen = 0; seen < asked && std::chrono::steady_clock::now() < deadline;) {
    seen += sampler->ring().Drain([&](const StackSample& sample) {
      auto stack = sample.stack();
      stacks[sample.thread].assign(stack.begin(), stack.end());
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return stacks;
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// User and system time from /proc/<pid>/stat: fields 14 and 15, counted after the name, which is
// in parentheses and may contain anything.
double CpuSeconds(const std::string& stat) {
  size_t end = stat.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  uint64_t user = 0, system = 0;
  fields >> user >> system;
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

Result<std::string> Encode() {
  TRY(auto stacks, Interrupt());
  TRY(auto space, AddressSpace::Read());
  std::map<std::vector<uintptr_t>, int64_t> counts;
  for (auto& [thread, stack] : stacks) ++counts[stack];
  Encoder encoder({{"goroutine", "count"}});
  for (const auto& [stack, count] : counts) encoder.AddSample(stack, true, {&count, 1});
  encoder.SetPeriod({"goroutine", "count"}, 1);
  auto now = std::chrono::system_clock::now().time_since_epoch();
  encoder.SetTimes(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(), 0);
  return encoder.Finish(space);
}

Result<std::string> Describe() {
  TRY(auto stacks, Interrupt());
  TRY(auto space, AddressSpace::Read());
  std::string out = fmt::format("threads: {}\n", stacks.size());
  for (const auto& [thread, stack] : stacks) {
    auto folder = fmt::format("/proc/self/task/{}/", thread);
    fmt::format_to(std::back_inserter(out), "\nthread {} \"{}\" cpu {:.2f}s:\n", thread,
                   FirstLine(folder + "comm"), CpuSeconds(FirstLine(folder + "stat")));
    for (size_t i = 0; i < stack.size(); ++i) {
      auto name = space.FunctionAt(i == 0 ? stack[i] : stack[i] - 1);
      fmt::format_to(std::back_inserter(out), "\t{:#x} {}\n", stack[i], name.readable);
    }
  }
  return out;
}

Result<std::string> Lookup(std::string_view addresses) {
  if (addresses.empty()) return std::string("num_symbols: 1\n");
  TRY(auto space, AddressSpace::Read());
  std::string out;
  while (!addresses.empty()) {
    auto text = addresses.substr(0, addresses.find('+'));
    addresses.remove_prefix(std::min(text.size() + 1, addresses.size()));
    uint64_t address = std::strtoull(std::string(text).c_str(), nullptr, 16);
    if (address == 0 || !space.MappingOf(address)) continue;
    fmt::format_to(std::back_inserter(out), "{:#x} {}\n", address,
                   space.FunctionAt(address).readable);
  }
  return out;
}

}  // namespace

Task<Result<std::string>> ThreadProfile() { return RunAside(Encode); }

Task<Result<std::string>> ThreadList() { return RunAside(Describe); }

Task<Result<std::string>> Symbol(std::string addresses) {
  return RunAside([addresses = std::move(addresses)] { return Lookup(addresses); });
}

Result<std::string> CommandLine() {
  std::ifstream file("/proc/self/cmdline");
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.empty()) return Fail(ErrorCode::kIo, "/proc/self/cmdline cannot be read");
  if (text.back() == '\0') text.pop_back();
  return text;
}

Result<std::string> Trace() {
  return Fail(ErrorCode::kUnsupported, "execution traces are not available in this server");
}

}  // namespace keelson::profile
