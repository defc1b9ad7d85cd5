// What the embedded store costs: durable writes alone and in company, at few keys and at many, and
// reading everything back. Latencies are set beside a bare fdatasync of the same disk in the same
// run; KEELSON_BENCH_DIR names a folder on another one.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "base/executor.h"
#include "base/gate.h"
#include "kv/rocksdb/rocksdb_store.h"
#include "kv/rocksdb/testing/temp_directory.h"
#include "kv/testing/sync.h"

namespace keelson::kv {
namespace {

using testing::Await;
using testing::TempDirectory;

constexpr size_t kValueBytes = 1024;

std::string BenchParent() {
  const char* parent = std::getenv("KEELSON_BENCH_DIR");
  return parent != nullptr ? parent : std::filesystem::temp_directory_path().string();
}

std::string Key(int64_t i) {
  return fmt::format("/registry/configmaps/ns-{:03}/c-{:08}", i % 1000, i);
}

// Text that compresses about as well as objects do, different for each key; cheap to make, because
// the benchmarks' CPU figures include it.
Slice Value(int64_t i) {
  static const std::string text = [] {
    std::mt19937_64 random(1);
    std::string t;
    while (t.size() < 16 * kValueBytes) t += fmt::format("\"field-{:x}\":\"value\",", random());
    return t;
  }();
  return Slice::Make(kValueBytes, [&](char* out) {
    size_t offset = static_cast<uint64_t>(i) * 7919 % (text.size() - kValueBytes);
    text.copy(out, kValueBytes, offset);
    std::memcpy(out, &i, sizeof(i));
  });
}

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// CPU time of this process's threads of that name, in seconds: what commits and what merges are
// told apart, because merging is paid later and depends on what was written long before.
double ThreadSeconds(std::string_view name) {
  double nanos = 0;
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::string comm;
    std::getline(std::ifstream(task.path() / "comm"), comm);
    double on_cpu = 0;
    if (comm.starts_with(name)) std::ifstream(task.path() / "schedstat") >> on_cpu;
    nanos += on_cpu;
  }
  return nanos * 1e-9;
}
double CommitSeconds() { return ThreadSeconds("kv-commit"); }
double MergeSeconds() { return ThreadSeconds("rocksdb:"); }

// Until RocksDB has digested what was written.
void AwaitQuiet() {
  constexpr auto kPause = std::chrono::milliseconds(300);
  for (double before = -1, now = MergeSeconds(); now - before > 1e-3; now = MergeSeconds()) {
    before = now;
    std::this_thread::sleep_for(kPause);
  }
}

double ResidentMegabytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / 1e6;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double FdatasyncMicros(const std::string& directory, int rounds) {
  std::string path = directory + "/sync";
  int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  std::string bytes(kValueBytes, 'x');
  std::vector<double> micros;
  for (int i = 0; i < rounds; ++i) {
    auto begin = std::chrono::steady_clock::now();
    KEELSON_CHECK(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    KEELSON_CHECK(fdatasync(fd) == 0);
    micros.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  close(fd);
  unlink(path.c_str());
  return Median(std::move(micros));
}

// Where a disk costs nothing: what is left is ours.
constexpr const char* kMemoryParent = "/dev/shm";

class BenchStore {
 public:
  explicit BenchStore(int64_t keys = 0, const std::string& parent = BenchParent())
      : directory_(parent) {
    Open();
    for (int64_t i = 0; i < keys;) {
      Transaction fill;
      for (int n = 0; n < 1000 && i < keys; ++n, ++i) {
        fill.operations.push_back(Operation::Put(Key(i), Value(i)));
      }
      KEELSON_CHECK(Await(store_->Commit(std::move(fill))).has_value());
    }
    keys_ = keys;
    AwaitQuiet();
  }
  ~BenchStore() { Await(store_->Close()); }

  void Open() {
    auto opened = OpenRocksDbStore({.directory = directory_.path() + "/store"}, clock_);
    if (!opened) fmt::print(stderr, "{}\n", opened.error().message);
    store_ = *std::move(opened);
  }
  void Reopen() {
    Await(store_->Close());
    store_.reset();
    Open();
  }
  RocksDbStore& store() { return *store_; }
  int64_t keys() const { return keys_; }
  const std::string& directory() const { return directory_.path(); }

 private:
  TempDirectory directory_;
  SystemClock clock_;
  std::unique_ptr<RocksDbStore> store_;
  int64_t keys_ = 0;
};

BenchStore& StoreOf(int64_t keys, const std::string& parent = BenchParent()) {
  // RocksDB's statics come with the first store; these here are closed at exit, before they go.
  static const bool opened [[maybe_unused]] = (BenchStore(), true);
  static std::map<std::pair<int64_t, std::string>, std::unique_ptr<BenchStore>> stores;
  auto& store = stores[{keys, parent}];
  if (!store) store = std::make_unique<BenchStore>(keys, parent);
  return *store;
}

// One writer on an executor, as a request on an io thread would be.
struct Writers {
  RocksDbStore* store;
  int64_t first_key;
  int64_t keys;  // 0 creates new ones
  std::atomic<int64_t> left;
  std::atomic<int64_t> next = 0;
  std::vector<double> micros;
};

Task<void> WriteUntilDone(Writers* writers) {
  std::mt19937_64 random(writers->next.fetch_add(1));
  while (writers->left.fetch_sub(1) > 0) {
    int64_t n = writers->next.fetch_add(1);
    int64_t key = writers->keys == 0 ? writers->first_key + n
                                     : static_cast<int64_t>(random() % writers->keys);
    Transaction write;
    write.operations.push_back(Operation::Put(Key(key), Value(writers->keys == 0 ? key : key + n)));
    auto begin = std::chrono::steady_clock::now();
    auto result = co_await writers->store->Commit(std::move(write));
    KEELSON_CHECK(result && result->succeeded);
    writers->micros.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
            .count());
  }
}

// Updates of random keys, or creations, by `range(1)` writers on a store of `range(0)` keys.
void RunWriters(benchmark::State& state, bool create, const std::string& parent = BenchParent()) {
  BenchStore& bench = StoreOf(state.range(0), parent);
  static int64_t fresh = int64_t{1} << 40;
  Writers writers{&bench.store(), fresh, create ? 0 : bench.keys(), {}, {}, {}};
  uint64_t commits = bench.store().Stats().commits;
  double cpu = CpuSeconds(), committing = CommitSeconds(), merging = MergeSeconds();
  int64_t total = 0;
  for (auto _ : state) {
    int64_t count = state.range(1) == 1 ? 1000 : 20000;
    writers.left = count;
    total += count;
    ThreadExecutor io("io");
    Gate gate;
    for (int i = 0; i < state.range(1); ++i) gate.Spawn(&io, WriteUntilDone(&writers));
    gate.CloseAndWait();
  }
  fresh += writers.next;
  cpu = CpuSeconds() - cpu;
  committing = CommitSeconds() - committing;
  merging = MergeSeconds() - merging;
  commits = bench.store().Stats().commits - commits;
  std::vector<double> sorted = writers.micros;
  std::sort(sorted.begin(), sorted.end());
  double items = static_cast<double>(total);
  state.SetItemsProcessed(total);
  state.counters["cpu_us"] = cpu * 1e6 / items;
  state.counters["commit_us"] = committing * 1e6 / items;
  state.counters["merge_us"] = merging * 1e6 / items;
  state.counters["writes_per_sync"] = items / static_cast<double>(commits);
  state.counters["p50_us"] = sorted[sorted.size() / 2];
  state.counters["p99_us"] = sorted[sorted.size() * 99 / 100];
  state.counters["max_us"] = sorted.back();
  state.counters["stalls"] = static_cast<double>(bench.store().Stats().stalls);
  state.counters["fdatasync_us"] = FdatasyncMicros(bench.directory(), 300);
  state.counters["beyond_fdatasync_us"] =
      state.counters["p50_us"].value - state.counters["fdatasync_us"].value;
}

void BM_Create(benchmark::State& state) { RunWriters(state, /*create=*/true); }
void BM_Update(benchmark::State& state) { RunWriters(state, /*create=*/false); }
BENCHMARK(BM_Create)->Args({0, 1})->Args({0, 64})->UseRealTime()->Iterations(3)->Unit(
    benchmark::kMillisecond);
BENCHMARK(BM_Update)
    ->Args({1000, 1})
    ->Args({1000, 64})
    ->Args({1000000, 1})
    ->Args({1000000, 64})
    ->UseRealTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

Task<void> WriteSteadily(Writers* writers, Clock* clock, Duration pause, TimePoint start) {
  std::mt19937_64 random(writers->next.fetch_add(1));
  for (TimePoint due = start; writers->left.fetch_sub(1) > 0; due += pause) {
    if (due > clock->Now()) co_await SleepFor(*clock, due - clock->Now());
    auto key = static_cast<int64_t>(random() % writers->keys);
    Transaction write;
    write.operations.push_back(Operation::Put(Key(key), Value(key + writers->next.fetch_add(1))));
    auto begin = std::chrono::steady_clock::now();
    KEELSON_CHECK((co_await writers->store->Commit(std::move(write))).has_value());
    writers->micros.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
            .count());
  }
}

// Limit: merging never holds a write back for more than 50 ms at 10,000 writes a second. Random
// updates of a million keys for eight seconds, by more writers than wait for a sync at that pace;
// max_us is what they saw, sync and all.
void SteadyWrites(benchmark::State& state, const std::string& parent) {
  constexpr int64_t kPerSecond = 10000, kSeconds = 8, kWriters = 256;
  BenchStore& bench = StoreOf(state.range(0), parent);
  bench.Reopen();  // filling it, as fast as it goes, made writes wait
  Writers writers{&bench.store(), 0, bench.keys(), {}, {}, {}};
  SystemClock clock;
  for (auto _ : state) {
    writers.left = kPerSecond * kSeconds;
    ThreadExecutor io("io");
    Gate gate;
    Duration pause = std::chrono::seconds(kWriters) / kPerSecond;
    for (int i = 0; i < kWriters; ++i) {
      auto start = clock.Now() + pause * i / kWriters;
      gate.Spawn(&io, WriteSteadily(&writers, &clock, pause, start));
    }
    gate.CloseAndWait();
  }
  std::sort(writers.micros.begin(), writers.micros.end());
  state.SetItemsProcessed(kPerSecond * kSeconds);
  state.counters["p50_us"] = writers.micros[writers.micros.size() / 2];
  state.counters["p99_us"] = writers.micros[writers.micros.size() * 99 / 100];
  state.counters["max_us"] = writers.micros.back();
  state.counters["longest_stall_us"] =
      std::chrono::duration<double, std::micro>(bench.store().Stats().longest_stall).count();
}
void BM_SteadyWrites(benchmark::State& state) { SteadyWrites(state, BenchParent()); }
void BM_SteadyWritesInMemory(benchmark::State& state) { SteadyWrites(state, kMemoryParent); }
BENCHMARK(BM_SteadyWrites)
    ->Arg(1000000)
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SteadyWritesInMemory)
    ->Arg(1000000)
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void BM_CreateInMemory(benchmark::State& state) {
  RunWriters(state, /*create=*/true, kMemoryParent);
}
BENCHMARK(BM_CreateInMemory)
    ->Args({0, 64})
    ->UseRealTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

// Everything, in pages, as a watch cache fills itself.
void BM_RangeAll(benchmark::State& state) {
  BenchStore& bench = StoreOf(state.range(0));
  int64_t objects = 0;
  for (auto _ : state) {
    bench.Reopen();
    RangeRequest page{.range = KeyRange::All(), .limit = 10000};
    for (;;) {
      auto result = Await(bench.store().Range(page)).value();
      objects += static_cast<int64_t>(result.items.size());
      benchmark::DoNotOptimize(result.items.data());
      if (!result.more) break;
      page.range.start = std::string(result.items.back().key.view()) + '\0';
    }
  }
  state.SetItemsProcessed(objects);
  state.counters["rss_mb"] = ResidentMegabytes();
}
BENCHMARK(BM_RangeAll)->Arg(1000000)->UseRealTime()->Iterations(2)->Unit(benchmark::kMillisecond);

void BM_CreateStore(benchmark::State& state) {
  double grown = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto directory = std::make_unique<TempDirectory>(BenchParent());
    SystemClock clock;
    double before = ResidentMegabytes();
    state.ResumeTiming();
    auto store = OpenRocksDbStore({.directory = directory->path() + "/store"}, clock).value();
    state.PauseTiming();
    grown = std::max(grown, ResidentMegabytes() - before);
    state.counters["rss_mb"] = grown;
    Await(store->Close());
    state.ResumeTiming();
  }
}
BENCHMARK(BM_CreateStore)->UseRealTime()->Iterations(10)->Unit(benchmark::kMillisecond);

void BM_OpenStore(benchmark::State& state) {
  BenchStore bench;
  for (auto _ : state) {
    state.PauseTiming();
    SystemClock clock;
    TempDirectory scratch(BenchParent());
    bench.Reopen();
    state.ResumeTiming();
    bench.Reopen();
  }
}
BENCHMARK(BM_OpenStore)->UseRealTime()->Iterations(10)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace keelson::kv
