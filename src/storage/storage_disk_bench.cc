// Storage over the embedded store, as a server has it: one thread feeds the caches, one stands for
// the io threads, and the store has its own. What a write costs is the CPU time of all of them.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "kv/rocksdb/rocksdb_store.h"
#include "kv/rocksdb/testing/temp_directory.h"
#include "kv/testing/sync.h"
#include "storage/testing_storage.h"

namespace keelson::storage {
namespace {

using kv::testing::Await;
using testing::MakeImage;
using testing::PodSample;

// CPU time of this process's threads whose name begins so.
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

// Until RocksDB has digested what was written.
void AwaitQuiet() {
  constexpr auto kPause = std::chrono::milliseconds(300);
  for (double before = -1, now = ThreadSeconds("rocksdb:"); now - before > 1e-3;
       now = ThreadSeconds("rocksdb:")) {
    before = now;
    std::this_thread::sleep_for(kPause);
  }
}

std::string BenchParent() {
  const char* parent = std::getenv("KEELSON_BENCH_DIR");
  return parent != nullptr ? parent : std::filesystem::temp_directory_path().string();
}

class DiskStorage {
 public:
  DiskStorage(size_t count, size_t bytes) : directory_(BenchParent()), count_(count) {
    auto options = testing::PodOptions();
    options.codec = &codec_;
    store_ = kv::OpenRocksDbStore({.directory = directory_.path() + "/store"}, clock_).value();
    feed_ = std::make_unique<CacheFeed>(store_.get(), &feeding_, &clock_,
                                        FeedOptions{.memory_budget = size_t{16} << 30});
    feed_->Start();
    pods_ = std::make_unique<ObjectStore>(std::make_shared<const ResourceOptions>(options),
                                          store_.get(), feed_.get(), &clock_);
    for (size_t i = 0; i < count;) {
      kv::Transaction transaction;
      for (size_t end = std::min(count, i + 1000); i < end; ++i) {
        auto sample = PodSample(i, bytes);
        transaction.operations.push_back(kv::Operation::Put(
            "/registry/pods/" + sample.ns + "/" + sample.name, *codec_.Encode(MakeImage(sample))));
      }
      KEELSON_CHECK(Await(store_->Commit(std::move(transaction))).has_value());
    }
    AwaitQuiet();
  }
  ~DiskStorage() {
    Await(feed_->Stop());
    pods_.reset();
    feed_.reset();
    Await(store_->Close());
  }

  ObjectStore& pods() { return *pods_; }
  kv::Store& store() { return *store_; }
  ThreadExecutor& io() { return io_; }
  size_t count() const { return count_; }
  void DropCache() {
    Gate gate;
    gate.Spawn(&feeding_, Drop(&pods_->cache()));
    gate.CloseAndWait();
  }

  static DiskStorage& Of(size_t count, size_t bytes) {
    // RocksDB's statics come with the first store; these here are closed at exit, before they go.
    static const bool opened [[maybe_unused]] = (DiskStorage(0, 0), true);
    static std::map<size_t, std::unique_ptr<DiskStorage>> storages;
    auto& storage = storages[count];
    if (!storage) storage = std::make_unique<DiskStorage>(count, bytes);
    return *storage;
  }

 private:
  static Task<void> Drop(WatchCache* cache) {
    cache->Drop();
    co_return;
  }

  SystemClock clock_;
  RecordCodec codec_{testing::PodOptions().fields};
  kv::testing::TempDirectory directory_;
  const size_t count_;
  ThreadExecutor feeding_{"feed"};
  ThreadExecutor io_{"io"};
  std::unique_ptr<kv::RocksDbStore> store_;
  std::unique_ptr<CacheFeed> feed_;
  std::unique_ptr<ObjectStore> pods_;
};

constexpr size_t kBytes = 1024;

// Limit: 500,000 objects a second.
void BM_FillCacheFromDisk(benchmark::State& state) {
  auto& storage = DiskStorage::Of(static_cast<size_t>(state.range(0)), kBytes);
  double feeding = 0, reading = 0;
  for (auto _ : state) {
    feeding -= ThreadSeconds("feed");
    reading -= ThreadSeconds("kv-read");
    KEELSON_CHECK(Await(storage.pods().List({.ns = "none"})).has_value());
    feeding += ThreadSeconds("feed");
    reading += ThreadSeconds("kv-read");
    state.PauseTiming();
    KEELSON_CHECK(storage.pods().cache().stats().objects == storage.count());
    storage.DropCache();
    state.ResumeTiming();
  }
  const int64_t items = state.range(0) * static_cast<int64_t>(state.iterations());
  state.SetItemsProcessed(items);
  // The two threads work at the same time; the slower one sets the pace.
  state.counters["feed_us"] = feeding * 1e6 / static_cast<double>(items);
  state.counters["read_us"] = reading * 1e6 / static_cast<double>(items);
}
BENCHMARK(BM_FillCacheFromDisk)
    ->Arg(1000000)
    ->UseRealTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

Task<void> UpdateSome(ObjectStore* pods, size_t count, std::atomic<int64_t>* left, unsigned seed) {
  std::mt19937 random(seed);
  while (left->fetch_sub(1) > 0) {
    auto sample = PodSample(random() % count, kBytes);
    sample.data += std::to_string(random());
    testing::FixedChange change(Change::Kind::kPut, sample);
    auto updated = co_await pods->Modify(sample.ns, sample.name, {}, change);
    KEELSON_CHECK(updated.has_value());
  }
}

// Limit: at 1,000,000 objects 1.3 times the cost at 1,000. Updates of random objects by 64 writers,
// from the verb to the durable write and the published snapshot.
void BM_UpdateOnDisk(benchmark::State& state) {
  auto& storage = DiskStorage::Of(static_cast<size_t>(state.range(0)), kBytes);
  KEELSON_CHECK(Await(storage.pods().List({.ns = "none"})).has_value());
  constexpr int64_t kUpdates = 50000;  // enough to make merging show
  const std::pair<const char*, const char*> threads[] = {
      {"io_us", "io"}, {"feed_us", "feed"}, {"commit_us", "kv-commit"}, {"merge_us", "rocksdb:"}};
  std::map<std::string, double> spent;
  for (auto [label, name] : threads) spent[label] -= ThreadSeconds(name);
  static unsigned seed = 0;  // never the same again: it would change nothing
  for (auto _ : state) {
    std::atomic<int64_t> left = kUpdates;
    Gate gate;
    for (int i = 0; i < 64; ++i) {
      gate.Spawn(&storage.io(), UpdateSome(&storage.pods(), storage.count(), &left, ++seed));
    }
    gate.CloseAndWait();
    AwaitQuiet();
  }
  double total = 0;
  for (auto [label, name] : threads) {
    spent[label] += ThreadSeconds(name);
    double micros = spent[label] * 1e6 /
                    static_cast<double>(kUpdates * static_cast<int64_t>(state.iterations()));
    state.counters[label] = micros;
    total += micros;
  }
  state.counters["cpu_us"] = total;
}
BENCHMARK(BM_UpdateOnDisk)
    ->Arg(1000)
    ->Arg(1000000)
    ->UseRealTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace keelson::storage
