// A cluster of three etcd servers that are killed, stopped and cut off from each other at random
// while clients write, compare and read. `make test-chaos` runs it for minutes; it prints its seed.
//
// What is checked is linearizability. A store's revisions say in which order it claims to have done
// things, so it is enough that this order is believable: it holds every acknowledged write once and
// nothing that nobody wrote, it agrees with what each client was told, and nothing that began after
// something else had ended comes before it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "kv/etcd/etcd_store.h"
#include "kv/etcd/testing/etcd_process.h"
#include "kv/etcd/testing/relay.h"
#include "kv/testing/sync.h"

namespace keelson::kv::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using SteadyClock = std::chrono::steady_clock;

constexpr int kKeys = 5;
constexpr int kClients = 6;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// One call of a client, as the client saw it.
struct Observed {
  enum class Kind : uint8_t { kPut, kReplace, kRead };
  enum class Outcome : uint8_t { kDone, kRefused, kUnknown };
  Kind kind = Kind::kRead;
  Outcome outcome = Outcome::kUnknown;
  SteadyClock::time_point begin, end;
  std::string key;
  std::string value;      // written or read; unique when written
  Revision expected = 0;  // of kReplace: the mod revision compared with
  Revision revision = 0;  // of the write, or of the store when it was read
};

class History {
 public:
  void Add(Observed operation) {
    std::lock_guard lock(mutex_);
    operations_.push_back(std::move(operation));
  }
  std::vector<Observed> Take() {
    std::lock_guard lock(mutex_);
    return std::move(operations_);
  }

 private:
  std::mutex mutex_;
  std::vector<Observed> operations_;
};

class Client {
 public:
  Client(Store& store, Clock& clock, History& history, int number, uint64_t seed)
      : store_(store), clock_(clock), history_(history), number_(number), random_(seed) {}

  void Run(const std::atomic<bool>& stop) {
    while (!stop) Step();
  }

 private:
  Call Limit() { return {.stop = {}, .deadline = clock_.Now() + seconds(5)}; }

  void Step() {
    Observed operation;
    operation.key = fmt::format("chaos/{}", random_() % kKeys);
    operation.kind = static_cast<Observed::Kind>(random_() % 3);
    if (operation.kind == Observed::Kind::kReplace) {
      auto read = Await(store_.Get(operation.key, Limit()));
      if (!read) return;
      operation.expected = read->item ? read->item->mod_revision : 0;
    }
    operation.begin = SteadyClock::now();
    if (operation.kind == Observed::Kind::kRead) {
      auto read = Await(store_.Get(operation.key, Limit()));
      if (!read) return;  // tells nothing
      operation.outcome = Observed::Outcome::kDone;
      operation.revision = read->revision;
      if (read->item) operation.value = read->item->value.view();
    } else {
      operation.value = fmt::format("{}.{}", number_, ++counter_);
      Transaction transaction;
      if (operation.kind == Observed::Kind::kReplace) {
        transaction.compares.push_back(Compare::ModRevision(operation.key, operation.expected));
      }
      transaction.operations.push_back(Operation::Put(operation.key, Slice::Copy(operation.value)));
      auto written = Await(store_.Commit(std::move(transaction), Limit()));
      if (written) {
        operation.outcome =
            written->succeeded ? Observed::Outcome::kDone : Observed::Outcome::kRefused;
        operation.revision = written->revision;
      }
    }
    operation.end = SteadyClock::now();
    history_.Add(std::move(operation));
  }

  Store& store_;
  Clock& clock_;
  History& history_;
  const int number_;
  std::mt19937_64 random_;
  uint64_t counter_ = 0;
};

// The order the store claims, from one watch over everything.
struct Logged {
  std::string key;
  std::string value;
};
using Log = std::map<Revision, Logged>;

void Follow(Watch& watch, const std::atomic<Revision>& until, Log& log) {
  for (Revision reached = 0; until == 0 || reached < until;) {
    auto batch = Await(watch.Next());
    ASSERT_TRUE(batch) << batch.error().message;
    ASSERT_GE(batch->revision, reached);
    for (const auto& event : batch->events) {
      // Ordered, and nothing twice.
      ASSERT_TRUE(log.empty() || log.rbegin()->first < event.kv.mod_revision);
      log[event.kv.mod_revision] = {std::string(event.kv.key.view()),
                                    std::string(event.kv.value.view())};
    }
    reached = batch->revision;
  }
}

void CheckWrites(const std::vector<Observed>& operations, const Log& log) {
  std::map<std::string, const Observed*> by_value;
  for (const auto& operation : operations) {
    if (operation.kind == Observed::Kind::kRead) continue;
    by_value[operation.value] = &operation;
    if (operation.outcome != Observed::Outcome::kDone) continue;
    auto found = log.find(operation.revision);
    ASSERT_TRUE(found != log.end()) << "lost: " << operation.value << " @" << operation.revision;
    ASSERT_EQ(found->second.value, operation.value);
    ASSERT_EQ(found->second.key, operation.key);
  }
  std::map<std::string, Revision> at;   // when a value was written
  std::map<std::string, Revision> mod;  // the state as it goes by
  for (const auto& [revision, logged] : log) {
    auto found = by_value.find(logged.value);
    ASSERT_TRUE(found != by_value.end()) << "nobody wrote " << logged.value;
    const auto& operation = *found->second;
    ASSERT_NE(operation.outcome, Observed::Outcome::kRefused) << logged.value;
    ASSERT_TRUE(at.emplace(logged.value, revision).second) << "twice: " << logged.value;
    if (operation.kind == Observed::Kind::kReplace) {
      ASSERT_EQ(mod[logged.key], operation.expected) << logged.value;
    }
    mod[logged.key] = revision;
  }
}

void CheckReads(const std::vector<Observed>& operations, const Log& log) {
  std::map<std::string, std::map<Revision, std::string>> states;
  for (const auto& [revision, logged] : log) states[logged.key][revision] = logged.value;
  for (const auto& operation : operations) {
    if (operation.kind != Observed::Kind::kRead) continue;
    const auto& state = states[operation.key];
    auto after = state.upper_bound(operation.revision);
    ASSERT_EQ(operation.value, after == state.begin() ? "" : std::prev(after)->second);
  }
}

// Nothing that began after something else had ended comes before it.
void CheckTime(std::vector<Observed> operations) {
  std::erase_if(operations, [](const auto& operation) {
    return operation.outcome == Observed::Outcome::kUnknown;
  });
  std::vector<std::pair<SteadyClock::time_point, Revision>> ended;
  for (const auto& operation : operations) ended.emplace_back(operation.end, operation.revision);
  std::ranges::sort(ended);
  std::ranges::sort(operations, {}, &Observed::begin);
  Revision least = 0;
  auto next = ended.begin();
  for (const auto& operation : operations) {
    for (; next != ended.end() && next->first < operation.begin; ++next) {
      least = std::max(least, next->second);
    }
    const bool writes =
        operation.outcome == Observed::Outcome::kDone && operation.kind != Observed::Kind::kRead;
    ASSERT_GE(operation.revision, least + (writes ? 1 : 0)) << operation.value;
  }
}

TEST(Chaos, HistoryIsLinearizable) {
  auto programs = EtcdPrograms();
  if (programs.empty()) {
    GTEST_SKIP() << "no etcd: install Debian's etcd-server, or name one by ETCD_BIN or PEER_BIN";
  }
  const uint64_t seed = FromEnvironment("KEELSON_SEED", std::random_device{}());
  const seconds length(FromEnvironment("CHAOS_SECONDS", 300));
  fmt::print("KEELSON_SEED={} CHAOS_SECONDS={} {}\n", seed, length.count(), programs.back());
  std::mt19937_64 random(seed);

  std::vector<std::unique_ptr<Relay>> relays;
  std::vector<EtcdProcess::Member> members;
  for (int i = 0; i < 3; ++i) {
    const uint16_t port = FreePort();
    relays.push_back(std::make_unique<Relay>(port));
    members.push_back({fmt::format("m{}", i), port, relays.back()->port()});
  }
  auto cluster = EtcdProcess::StartCluster(programs.back(), members);
  ASSERT_TRUE(cluster) << cluster.error().message;
  std::vector<std::string> urls;
  for (const auto& member : *cluster) urls.push_back(member->url());

  SystemClock clock;
  auto pool = *net::IoPool::Create(2);
  auto store = *OpenEtcdStore({.urls = urls, .ca_pem = {}, .client_pair = {}}, *pool, clock);
  const Revision start = Await(store->CurrentRevision()).value();
  auto watch = store->StartWatch({.range = KeyRange::Prefix("chaos/"), .start = start + 1}).value();
  std::atomic<Revision> until = 0;
  Log log;
  std::thread follower([&] { Follow(*watch, until, log); });
  History history;
  std::atomic<bool> stop = false;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i, client_seed = random()] {
      Client(*store, clock, history, i, client_seed).Run(stop);
    });
  }

  // One thing goes wrong at a time, so that two of three can always agree.
  std::array<int, 3> faults{};
  const auto limit = SteadyClock::now() + length;
  while (SteadyClock::now() < limit) {
    std::this_thread::sleep_for(milliseconds(500 + random() % 2000));
    const size_t victim = random() % 3;
    const size_t fault = random() % faults.size();
    ++faults[fault];
    auto& member = *(*cluster)[victim];
    const milliseconds pause(200 + random() % 4000);
    if (fault == 0) {
      member.Kill();
      std::this_thread::sleep_for(pause);
      ASSERT_TRUE(member.Restart());
    } else if (fault == 1) {
      member.Pause(true);
      std::this_thread::sleep_for(pause);
      member.Pause(false);
    } else {
      relays[victim]->Cut(true);
      std::this_thread::sleep_for(pause);
      relays[victim]->Cut(false);
    }
  }
  stop = true;
  for (auto& client : clients) client.join();
  // One last write ends the log.
  Transaction last;
  last.operations.push_back(Operation::Put("chaos/last", Slice::Static("end")));
  Result<TransactionResult> ended = Fail(ErrorCode::kUnavailable, "");
  for (int i = 0; i < 30 && !ended; ++i) {
    ended = Await(store->Commit(last));
    if (!ended) std::this_thread::sleep_for(seconds(1));
  }
  ASSERT_TRUE(ended) << ended.error().message;
  until = ended->revision;
  follower.join();
  std::erase_if(log, [](const auto& entry) { return entry.second.value == "end"; });
  watch.reset();
  Await(store->Close());
  store.reset();
  pool->Stop();

  auto operations = history.Take();
  std::map<std::pair<int, int>, int> counts;
  for (const auto& operation : operations) {
    ++counts[{static_cast<int>(operation.kind), static_cast<int>(operation.outcome)}];
  }
  fmt::print(
      "kills {}, pauses {}, cuts {}; {} operations, {} changes; unknown: {} puts, {} replaces\n",
      faults[0], faults[1], faults[2], operations.size(), log.size(), counts[{0, 2}],
      counts[{1, 2}]);
  EXPECT_GT(log.size(), 100u);
  CheckWrites(operations, log);
  CheckReads(operations, log);
  CheckTime(std::move(operations));
}

}  // namespace
}  // namespace keelson::kv::testing
