// What the store adds to an etcd server: transactions as a server makes them, many in flight, on a
// server started for it. Compare with a raw client on the same machine (docs/performance.md).
// usage: kv_etcd_bench; the server is $PEER_BIN/etcd, $ETCD_BIN or `etcd` in $PATH.

#include <benchmark/benchmark.h>

#include <atomic>

#include "base/gate.h"
#include "kv/etcd/etcd_store.h"
#include "kv/etcd/testing/etcd_process.h"
#include "kv/testing/sync.h"

namespace keelson::kv {
namespace {

using testing::Await;

struct World {
  std::unique_ptr<testing::EtcdProcess> server;
  SystemClock clock;
  std::unique_ptr<net::IoPool> pool = *net::IoPool::Create(2);
  std::unique_ptr<EtcdStore> store;

  bool Open(benchmark::State& state) {
    auto programs = testing::EtcdPrograms();
    if (programs.empty()) {
      state.SkipWithError("no etcd");
      return false;
    }
    server = testing::EtcdProcess::Start(programs.back()).value();
    store = OpenEtcdStore({.urls = {server->url()}, .ca_pem = {}, .client_pair = {}}, *pool, clock)
                .value();
    return true;
  }
  ~World() {
    if (store) Await(store->Close());
    store.reset();
  }
};

Task<void> CreateSome(Store& store, std::atomic<int64_t>& left, Slice value) {
  for (int64_t number; (number = left.fetch_sub(1)) > 0;) {
    auto key = fmt::format("/registry/configmaps/default/{}", number);
    Transaction transaction;
    transaction.compares.push_back(Compare::Absent(key));
    transaction.read_on_failure.push_back(key);
    transaction.operations.push_back(Operation::Put(std::move(key), value));
    auto done = co_await store.Commit(std::move(transaction));
    KEELSON_CHECK(done && done->succeeded);
  }
}

// Arguments: transactions in flight, bytes of a value.
void Create(benchmark::State& state) {
  World world;
  if (!world.Open(state)) return;
  Slice value = Slice::Own(std::string(state.range(1), 'v'));
  constexpr int64_t kCount = 10'000;
  for (auto _ : state) {
    std::atomic<int64_t> left = kCount;
    Gate clients;
    for (int64_t i = 0; i < state.range(0); ++i) {
      clients.Spawn(&world.pool->Next(), CreateSome(*world.store, left, value));
    }
    clients.CloseAndWait();
  }
  state.SetItemsProcessed(kCount);
}
BENCHMARK(Create)->Args({64, 1024})->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace keelson::kv
