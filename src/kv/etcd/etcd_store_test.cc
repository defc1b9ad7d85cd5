#include "kv/etcd/etcd_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <thread>

#include "base/log.h"
#include "kv/etcd/testing/etcd_process.h"
#include "kv/testing/conformance.h"
#include "kv/testing/model.h"
#include "kv/testing/sync.h"

namespace keelson::kv::testing {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreConformance);

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// One server per program and test process; each backend finds its keys gone.
EtcdProcess& SharedServer(const std::string& program) {
  static std::map<std::string, std::unique_ptr<EtcdProcess>> servers;
  auto& server = servers[program];
  if (!server) {
    auto started = EtcdProcess::Start(program);
    KEELSON_CHECK(started);
    server = *std::move(started);
  }
  return *server;
}

class InEtcd final : public Backend {
 public:
  explicit InEtcd(std::vector<std::string> urls) : urls_(std::move(urls)) {
    Open();
    Clean();
  }
  // With a server of its own, whose history is empty, too.
  explicit InEtcd(std::unique_ptr<EtcdProcess> server) : urls_{server->url()} {
    server_ = std::move(server);
    Open();
  }
  ~InEtcd() override {
    Await(store_->Close());
    store_.reset();
    pool_->Stop();
  }
  Store& store() override { return *store_; }
  EtcdStore& etcd() { return *store_; }
  void Advance(Duration by) override { std::this_thread::sleep_for(by); }
  TimePoint Now() const override { return clock_.Now(); }
  bool Reopen() override {
    Await(store_->Close());
    store_.reset();
    Open();
    return true;
  }

 private:
  void Open() {
    auto opened = OpenEtcdStore({.urls = urls_, .ca_pem = {}, .client_pair = {}}, *pool_, clock_);
    KEELSON_CHECK(opened);
    store_ = *std::move(opened);
  }
  void Clean() {
    for (;;) {
      auto page = Await(store_->Range({.range = KeyRange::All(), .limit = 100, .keys_only = true}));
      KEELSON_CHECK(page);
      if (page->items.empty()) return;
      Transaction transaction;
      for (const auto& item : page->items) {
        transaction.operations.push_back(Operation::Delete(std::string(item.key.view())));
      }
      KEELSON_CHECK(Await(store_->Commit(transaction)));
    }
  }

  const std::vector<std::string> urls_;
  std::unique_ptr<EtcdProcess> server_;
  SystemClock clock_;
  std::unique_ptr<net::IoPool> pool_ = *net::IoPool::Create(2);
  std::unique_ptr<EtcdStore> store_;
};

std::vector<BackendParam> Backends() {
  std::vector<BackendParam> backends;
  for (const auto& program : EtcdPrograms()) {
    backends.push_back({fmt::format("Etcd{}", backends.size() + 1), [program] {
                          return std::make_unique<InEtcd>(std::vector{SharedServer(program).url()});
                        }});
  }
  return backends;
}

Transaction PutOne(const std::string& key, const std::string& value) {
  Transaction transaction;
  transaction.operations.push_back(Operation::Put(key, Slice::Copy(value)));
  return transaction;
}

// Tests that need a server of their own; the newest there is.
class EtcdStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto programs = EtcdPrograms();
    if (programs.empty()) {
      GTEST_SKIP() << "no etcd: install Debian's etcd-server, or name one by ETCD_BIN or PEER_BIN";
    }
    program_ = programs.back();
  }
  std::unique_ptr<EtcdProcess> Start(std::vector<std::string> arguments = {}) {
    auto started = EtcdProcess::Start(program_, std::move(arguments));
    KEELSON_CHECK(started);
    return *std::move(started);
  }
  std::string program_;
};

TEST_F(EtcdStoreTest, FollowsTheModel) {
  for (const auto& program : EtcdPrograms()) {
    BackendParam backend{
        program, [&] { return std::make_unique<InEtcd>(EtcdProcess::Start(program).value()); },
        /*compaction_takes_previous=*/true};
    uint64_t first = FirstSeed();
    for (uint64_t seed = first; seed < first + SeedCount(5) && !HasFailure(); ++seed) {
      RunModel(backend, seed);
    }
  }
}

TEST_F(EtcdStoreTest, AWatchGoesOnWhenItsServerComesBack) {
  auto server = Start();
  InEtcd backend({server->url()});
  auto watch = backend.store().StartWatch({.range = KeyRange::All()}).value();
  std::vector<std::string> seen;
  auto read = [&](size_t count) {
    while (seen.size() < count) {
      auto batch = Await(watch->Next());
      ASSERT_TRUE(batch) << batch.error().message;
      for (const auto& event : batch->events) seen.emplace_back(event.kv.value.view());
    }
  };
  std::vector<std::string> written;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) {
      written.push_back(fmt::format("{}.{}", round, i));
      ASSERT_TRUE(Await(backend.store().Commit(PutOne("k", written.back()))));
      if (i == 2) read(written.size() - 1);
    }
    ASSERT_TRUE(server->Restart());
  }
  read(written.size());
  EXPECT_EQ(seen, written);
  watch->RequestProgress();
  auto progress = Await(watch->Next());
  ASSERT_TRUE(progress) << progress.error().message;
  EXPECT_TRUE(progress->events.empty());
}

TEST_F(EtcdStoreTest, FailsFastWithoutAServerAndRecovers) {
  auto server = Start();
  InEtcd backend({server->url()});
  ASSERT_TRUE(Await(backend.store().Commit(PutOne("a", "1"))));
  server->Kill();
  auto started = std::chrono::steady_clock::now();
  auto failed = Await(backend.store().Commit(PutOne("a", "2")));
  EXPECT_LT(std::chrono::steady_clock::now() - started, seconds(3));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(Await(backend.store().Health()));
  ASSERT_TRUE(server->Restart());
  EXPECT_TRUE(Await(backend.store().Health()));
  EXPECT_TRUE(Await(backend.store().Commit(PutOne("a", "3"))));
}

TEST_F(EtcdStoreTest, TurnsToAnotherServer) {
  auto server = Start();
  // The first of the two never answers.
  auto dead = fmt::format("http://127.0.0.1:{}", FreePort());
  InEtcd backend({dead, server->url()});
  EXPECT_TRUE(Await(backend.store().Commit(PutOne("a", "1"))));
  EXPECT_EQ(Await(backend.etcd().Describe()).value().url, server->url());
}

TEST_F(EtcdStoreTest, TellsWhatIsTooLargeFromWhatDoesNotFit) {
  auto server = Start({"--quota-backend-bytes=4194304"});
  InEtcd backend({server->url()});
  auto large = Await(backend.store().Commit(PutOne("a", std::string(1'700'000, 'x'))));
  EXPECT_EQ(large.error().code, ErrorCode::kTooLarge);
  auto larger = Await(backend.store().Commit(PutOne("a", std::string(5'000'000, 'x'))));
  EXPECT_EQ(larger.error().code, ErrorCode::kTooLarge);
  Result<TransactionResult> full;
  for (int i = 0; i < 100 && full; ++i) {
    full = Await(backend.store().Commit(PutOne(fmt::format("k{}", i), std::string(900'000, 'x'))));
  }
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error(),
            (Error{ErrorCode::kExhausted, "etcdserver: mvcc: database space exceeded"}));
  EXPECT_TRUE(Await(backend.store().Get("k0")).value().item);
}

TEST_F(EtcdStoreTest, GivesUpOnAServerThatHangs) {
  auto server = Start();
  InEtcd backend({server->url()});
  ASSERT_TRUE(Await(backend.store().Commit(PutOne("a", "1"))));
  server->Pause(true);
  auto late = Await(backend.store().Commit(PutOne("a", "2"),
                                           {.stop = {}, .deadline = backend.Now() + seconds(1)}));
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
  server->Pause(false);
  EXPECT_TRUE(Await(backend.store().Commit(PutOne("a", "3"))));
}

TEST(EtcdStore, SaysWhatIsWrongWithItsOptions) {
  SystemClock clock;
  auto pool = *net::IoPool::Create(1);
  auto failure = [&](EtcdStoreOptions options) {
    auto opened = OpenEtcdStore(std::move(options), *pool, clock);
    return opened ? "" : opened.error().message;
  };
  EXPECT_EQ(failure({}), "no etcd server is named");
  EXPECT_THAT(failure({.urls = {"ftp://x"}, .ca_pem = {}, .client_pair = {}}),
              ::testing::StartsWith("etcd server ftp://x: "));
  EXPECT_NE(failure({.urls = {"https://x:1"}, .ca_pem = "no certificate", .client_pair = {}}), "");
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Etcd, StoreConformance, ::testing::ValuesIn(Backends()), BackendName);

}  // namespace keelson::kv::testing
