// The process_* metrics that every Prometheus client library exports on Linux, read from /proc.

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "base/metrics.h"

namespace keelson::metrics {
namespace {

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Field `index` (from 0) of /proc/self/statm, in bytes.
double StatmBytes(int index) {
  std::ifstream in("/proc/self/statm");
  double pages = 0;
  for (int i = 0; i <= index; ++i) in >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double OpenDescriptors() {
  std::error_code ignored;
  double count = 0;
  for (auto it = std::filesystem::directory_iterator("/proc/self/fd", ignored);
       it != std::filesystem::directory_iterator(); it.increment(ignored)) {
    ++count;
  }
  return count;
}

double MaxDescriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<double>(limit.rlim_cur);
}

// Boot time plus the process's start in clock ticks since boot.
double StartTimeSeconds() {
  std::ifstream stat("/proc/self/stat");
  std::string line;
  std::getline(stat, line);
  auto after_name = line.rfind(')');
  if (after_name == std::string::npos) return 0;
  double ticks = 0;
  const char* at = line.c_str() + after_name + 1;
  for (int field = 0; field < 20; ++field) {  // field 22 of the line, 20 after the name
    while (*at == ' ') ++at;
    if (field == 19) ticks = std::strtod(at, nullptr);
    while (*at != ' ' && *at != 0) ++at;
  }
  std::ifstream machine("/proc/stat");
  double boot = 0;
  for (std::string key; machine >> key;) {
    if (key == "btime") machine >> boot;
    machine.ignore(1 << 16, '\n');
  }
  return boot + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

void RegisterProcessMetrics(Registry& registry) {
  auto plain = [](std::string name, std::string help) {
    return Description{
        .name = std::move(name), .help = std::move(help), .stability = Stability::kNone};
  };
  registry.CallbackCounter(
      plain("process_cpu_seconds_total", "Total user and system CPU time spent in seconds."),
      CpuSeconds);
  registry.CallbackGauge(plain("process_max_fds", "Maximum number of open file descriptors."),
                         MaxDescriptors);
  registry.CallbackGauge(plain("process_open_fds", "Number of open file descriptors."),
                         OpenDescriptors);
  registry.CallbackGauge(plain("process_resident_memory_bytes", "Resident memory size in bytes."),
                         [] { return StatmBytes(1); });
  registry.CallbackGauge(
      plain("process_start_time_seconds", "Start time of the process since unix epoch in seconds."),
      [start = StartTimeSeconds()] { return start; });
  registry.CallbackGauge(plain("process_virtual_memory_bytes", "Virtual memory size in bytes."),
                         [] { return StatmBytes(0); });
}

}  // namespace keelson::metrics
