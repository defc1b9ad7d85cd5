#include "kv/rocksdb/store_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace keelson::kv {
namespace {

constexpr std::string_view kUsage =
    R"(Usage:
  keelson store snapshot --data-dir DIR FILE   copy a store, in use or not, to FILE
  keelson store restore  --data-dir DIR FILE   make a new store in DIR from FILE
  keelson store verify   --data-dir DIR        read everything and report what is wrong
  keelson store compact  --data-dir DIR        forget the past of a store not in use, free its space
  keelson store stats    --data-dir DIR        revisions and sizes
  keelson store migrate  --from PLACE --to PLACE   copy all of a store to another, here or in etcd
  keelson store rewrite  --data-dir DIR        write anew what would be written differently today
)";

// A bar that is redrawn on a terminal, a line every few seconds elsewhere.
class ProgressDisplay {
 public:
  void operator()(std::string_view what, uint64_t done, uint64_t total) {
    auto now = std::chrono::steady_clock::now();
    bool finished = total != 0 && done >= total;
    auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
    if (!finished && now - last_ < pause) return;
    last_ = now;
    // Estimates may fall short of the truth.
    uint64_t percent = total == 0 ? 0 : std::min<uint64_t>(100, done * 100 / total);
    if (!terminal_) {
      fmt::print(stderr, "{}: {} rows{}\n", what, done,
                 finished ? ", done" : fmt::format(" ({}%)", percent));
      return;
    }
    constexpr uint64_t kWidth = 40;
    uint64_t filled = percent * kWidth / 100;
    fmt::print(stderr, "\r{} [{}{}] {:3}% {} rows{}", what, std::string(filled, '#'),
               std::string(kWidth - filled, ' '), percent, done, finished ? "\n" : "");
    std::fflush(stderr);
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  std::chrono::steady_clock::time_point last_;
};

void Print(const SnapshotInfo& info) {
  fmt::print("store id: {}\nrevision: {}\ncompacted revision: {}\nkeys: {}\nlogged changes: {}\n",
             info.store_id, info.revision, info.compacted_revision, info.keys, info.changes);
  if (info.file_bytes != 0) fmt::print("file bytes: {}\n", info.file_bytes);
}

int Fail(const Error& error) {
  fmt::print(stderr, "error: {}\n", error.message);
  return 1;
}

int Report(const Result<SnapshotInfo>& info) {
  if (!info) return Fail(info.error());
  Print(*info);
  return 0;
}

int Verify(const std::string& directory, const CheckValue& check, const Progress& progress) {
  auto report = VerifyStore(directory, check, progress);
  if (!report) return Fail(report.error());
  Print(report->info);
  for (const auto& [resource, keys] : report->keys_per_resource) {
    fmt::print("keys under {}: {}\n", resource, keys);
  }
  for (const auto& problem : report->problems) fmt::print("problem: {}\n", problem);
  fmt::print("{}\n", report->problems.empty() ? "no problems" : "the store is damaged");
  return report->problems.empty() ? 0 : 1;
}

int Report(const Result<RocksDbStoreStats>& stats) {
  if (!stats) return Fail(stats.error());
  fmt::print(
      "revision: {}\ncompacted revision: {}\nkeys (estimate): {}\ndisk bytes: {}\n"
      "of them history: {}\n",
      stats->revision, stats->compacted_revision, stats->estimated_keys, stats->disk_bytes,
      stats->history_bytes);
  return 0;
}

struct CommandLine {
  std::string verb;
  std::string directory;
  std::vector<std::string> files;
};

bool Parse(std::span<const std::string_view> arguments, CommandLine& line) {
  constexpr std::string_view kFlag = "--data-dir";
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (argument == kFlag && i + 1 < arguments.size()) {
      line.directory = arguments[++i];
    } else if (argument.starts_with(kFlag) && argument.substr(kFlag.size()).starts_with('=')) {
      line.directory = argument.substr(kFlag.size() + 1);
    } else if (argument.starts_with('-')) {
      return false;
    } else if (line.verb.empty()) {
      line.verb = argument;
    } else {
      line.files.emplace_back(argument);
    }
  }
  bool wants_file = line.verb == "snapshot" || line.verb == "restore";
  return !line.directory.empty() && line.files.size() == (wants_file ? 1 : 0);
}

}  // namespace

int RunStoreCommand(std::span<const std::string_view> arguments, const CheckValue& check) {
  CommandLine line;
  ProgressDisplay display;
  Progress progress = std::ref(display);
  if (Parse(arguments, line)) {
    if (line.verb == "restore") {
      std::error_code ignored;  // what fails here fails again, with a message, when it is used
      std::filesystem::create_directories(line.directory, ignored);
    }
    line.directory += kStoreFolder;
    if (line.verb == "snapshot") {
      return Report(SnapshotStore(line.directory, line.files[0], progress));
    }
    if (line.verb == "restore")
      return Report(RestoreStore(line.files[0], line.directory, progress));
    if (line.verb == "verify") return Verify(line.directory, check, progress);
    if (line.verb == "compact") return Report(CompactStore(line.directory));
    if (line.verb == "stats") return Report(ReadStoreStats(line.directory));
  }
  fmt::print(stderr, "{}", kUsage);
  return 2;
}

}  // namespace keelson::kv
