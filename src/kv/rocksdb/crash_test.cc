// Nothing acknowledged is lost: real processes killed with SIGKILL, and power cuts at any byte of a
// file system that forgets what was not synced.

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "base/gate.h"
#include "base/log.h"
#include "kv/rocksdb/rocksdb_store.h"
#include "kv/rocksdb/testing/fault_file_system.h"
#include "kv/rocksdb/testing/temp_directory.h"
#include "kv/testing/model.h"
#include "kv/testing/sync.h"

namespace keelson::kv::testing {
namespace {

RocksDbStoreOptions SmallStore(const std::string& directory, rocksdb::Env* env = nullptr) {
  return {.directory = directory,
          .memory_bytes = 1 << 20,
          .history_age = Duration::zero(),
          .history_bytes = 0,
          .env = env};
}

std::string ValueOf(const std::string& token) {
  return token + std::string(200 + std::hash<std::string>()(token) % 6000, 'v');
}

// What a client knows: which writes it tried, and which revision each acknowledged one got.
class Client {
 public:
  void Tried(const std::string& key, const std::string& token) { tried_[key].insert(token); }
  void Acknowledged(const std::string& key, const std::string& token, Revision revision) {
    ASSERT_TRUE(acknowledged_.emplace(revision, std::pair(key, token)).second)
        << "revision " << revision << " was given out twice";
  }
  size_t acknowledged() const { return acknowledged_.size(); }

  // Replays everything by a watch and compares.
  void Check(Store& store) {
    Revision now = Await(store.CurrentRevision()).value();
    ASSERT_GE(now, seen_) << "the revision went backwards";
    if (!acknowledged_.empty()) ASSERT_GE(now, acknowledged_.rbegin()->first);
    seen_ = now;
    std::map<std::string, std::string> state;
    auto watch = store.StartWatch({.range = KeyRange::All(), .start = 1}).value();
    watch->RequestProgress();
    Revision last = kFirstRevision;
    for (Revision through = 0; through < now;) {
      auto batch = Await(watch->Next());
      ASSERT_TRUE(batch) << batch.error().message;
      for (const Event& event : batch->events) {
        ASSERT_EQ(event.kv.mod_revision, last + 1) << "a gap or a duplicate";
        last = event.kv.mod_revision;
        std::string key(event.kv.key.view()), value(event.kv.value.view());
        std::string token = value.substr(0, value.find('v'));
        ASSERT_EQ(value, ValueOf(token));
        ASSERT_TRUE(tried_[key].contains(token)) << key << " has a value nobody wrote";
        ASSERT_EQ(event.previous.exists() ? std::string(event.previous.value.view()) : "",
                  state[key]);
        state[key] = value;
        if (auto found = acknowledged_.find(last); found != acknowledged_.end()) {
          ASSERT_EQ(found->second, std::pair(key, token));
          ++found_;
        }
      }
      through = batch->revision;
    }
    ASSERT_EQ(last, now);
    ASSERT_EQ(found_, acknowledged_.size()) << "an acknowledged write is missing";
    found_ = 0;
    auto all = Await(store.Range({.range = KeyRange::All()})).value();
    ASSERT_EQ(all.items.size(), state.size());
    for (const auto& kv : all.items) ASSERT_EQ(kv.value.view(), state[std::string(kv.key.view())]);
  }

 private:
  std::map<std::string, std::set<std::string>> tried_;
  std::map<Revision, std::pair<std::string, std::string>> acknowledged_;
  Revision seen_ = 0;
  size_t found_ = 0;
};

Task<Result<TransactionResult>> Put(Store& store, std::string key, std::string token) {
  Transaction transaction;
  transaction.operations.push_back(Operation::Put(std::move(key), Slice::Own(ValueOf(token))));
  return store.Commit(std::move(transaction));
}

// Writes groups of eight until one fails or `groups` are done.
void WriteGroups(Store& store, Client& client, std::mt19937_64& random, int groups) {
  static uint64_t token = 0;
  bool failed = false;
  for (int i = 0; i < groups && !failed; ++i) {
    struct Write {
      std::string key, token;
      std::unique_ptr<Started<Result<TransactionResult>>> result;
    };
    std::vector<Write> writes(1 + random() % 8);
    for (auto& write : writes) {
      write.key = fmt::format("key-{}", random() % 30);
      write.token = fmt::format("{}", ++token);
      client.Tried(write.key, write.token);
      write.result =
          std::make_unique<Started<Result<TransactionResult>>>(Put(store, write.key, write.token));
    }
    for (auto& write : writes) {
      auto result = write.result->Wait();
      if (result) {
        client.Acknowledged(write.key, write.token, result->revision);
      } else {
        failed = true;
      }
    }
  }
}

class FaultyDisk : public ::testing::Test {
 protected:
  FaultyDisk() : fs_(std::make_shared<FaultFileSystem>()), env_(rocksdb::NewCompositeEnv(fs_)) {}

  void Open() {
    auto opened = OpenRocksDbStore(SmallStore(directory_.path() + "/store", env_.get()), clock_);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
  }
  void Close() {
    Await(store_->Close());
    store_.reset();
  }
  std::vector<std::string> Files(std::string_view extension) {
    std::vector<std::string> names, found;
    (void)env_->GetChildren(directory_.path() + "/store/db", &names);
    for (auto& name : names) {
      if (name.ends_with(extension)) found.push_back(directory_.path() + "/store/db/" + name);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  TempDirectory directory_;
  std::shared_ptr<FaultFileSystem> fs_;
  std::unique_ptr<rocksdb::Env> env_;
  FakeClock clock_;
  std::unique_ptr<RocksDbStore> store_;
  Client client_;
};

class PowerCut : public FaultyDisk {
 protected:
  void RunSeed(uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int round = 0; round < 5 && !HasFatalFailure(); ++round) {
      ASSERT_NO_FATAL_FAILURE(Open());
      ASSERT_NO_FATAL_FAILURE(client_.Check(*store_));
      uint64_t scale = uint64_t{1} << (8 + random() % 14);
      fs_->CutPowerAfter(random() % scale);
      WriteGroups(*store_, client_, random, 200);
      fs_->CutPower();
      Close();
      fs_->RestorePower(random);
    }
    Open();
    client_.Check(*store_);
    Close();
  }
};

TEST_F(PowerCut, AtAnyByteLosesNothingAcknowledged) {
  log::Capture quiet;
  uint64_t first = FirstSeed();
  for (uint64_t seed = first; seed < first + SeedCount(25) && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("KEELSON_SEED={}", seed));
    fs_ = std::make_shared<FaultFileSystem>();
    env_ = rocksdb::NewCompositeEnv(fs_);
    client_ = Client();
    RunSeed(seed);
  }
}

TEST_F(FaultyDisk, AFailedSyncIsNotAcknowledgedAndStopsWritesNotReads) {
  log::Capture quiet;
  std::mt19937_64 random(1);
  Open();
  WriteGroups(*store_, client_, random, 10);
  fs_->FailSyncs(true);
  size_t before = client_.acknowledged();
  WriteGroups(*store_, client_, random, 3);
  EXPECT_EQ(client_.acknowledged(), before);
  EXPECT_FALSE(Await(store_->Health()));
  EXPECT_TRUE(Await(store_->Get("key-1")));
  fs_->CutPower();
  Close();
  fs_->FailSyncs(false);
  fs_->RestorePower(random);
  Open();
  client_.Check(*store_);
  Close();
}

TEST_F(FaultyDisk, AFullDiskRefusesWritesServesReadsAndRecovers) {
  log::Capture quiet;
  std::mt19937_64 random(1);
  for (uint64_t room : {0, 1, 100, 5000, 60000}) {
    SCOPED_TRACE(room);
    Open();
    // Without room the very first write after opening is the one that fails.
    if (room != 0) WriteGroups(*store_, client_, random, 10);
    fs_->SetSpace(room);
    WriteGroups(*store_, client_, random, 100);
    auto refused = Await(Put(*store_, "key-1", "never"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kExhausted) << refused.error().message;
    EXPECT_EQ(Await(store_->Health()).error().code, ErrorCode::kExhausted);
    client_.Check(*store_);
    fs_->SetSpace(std::nullopt);
    clock_.Advance(std::chrono::seconds(2));
    size_t before = client_.acknowledged();
    WriteGroups(*store_, client_, random, 10);
    EXPECT_GT(client_.acknowledged(), before);
    EXPECT_TRUE(Await(store_->Health()));
    client_.Check(*store_);
    if (room % 2 == 0) fs_->CutPower();
    Close();
    fs_->RestorePower(random);
    Open();
    client_.Check(*store_);
    Close();
  }
}

TEST_F(FaultyDisk, ADamagedWalIsRefusedNotShortened) {
  log::Capture quiet;
  std::mt19937_64 random(1);
  Open();
  WriteGroups(*store_, client_, random, 20);
  fs_->CutPower();
  Close();
  fs_->RestorePower(random);
  auto wals = Files(".log");
  ASSERT_FALSE(wals.empty());
  fs_->Damage(wals.back(), 2000);
  auto opened = OpenRocksDbStore(SmallStore(directory_.path() + "/store", env_.get()), clock_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt) << opened.error().message;
  EXPECT_NE(opened.error().message.find(wals.back()), std::string::npos) << opened.error().message;
  fs_->Damage(wals.back(), 2000);
  Open();
  client_.Check(*store_);
  Close();
}

TEST_F(FaultyDisk, MissingFilesAreRefusedNotReplaced) {
  log::Capture quiet;
  std::mt19937_64 random(1);
  Open();
  WriteGroups(*store_, client_, random, 20);
  Close();
  for (const char* victim : {".sst", "CURRENT"}) {
    auto files = Files(victim);
    ASSERT_FALSE(files.empty());
    std::string kept;
    ASSERT_TRUE(rocksdb::ReadFileToString(env_.get(), files[0], &kept).ok());
    ASSERT_TRUE(env_->DeleteFile(files[0]).ok());
    auto opened = OpenRocksDbStore(SmallStore(directory_.path() + "/store", env_.get()), clock_);
    ASSERT_FALSE(opened) << victim;
    EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt) << opened.error().message;
    ASSERT_TRUE(rocksdb::WriteStringToFile(env_.get(), kept, files[0]).ok());
  }
  Open();
  client_.Check(*store_);
  Close();
}

// --- real processes ---

constexpr const char* kChildDirectory = "KEELSON_CRASH_DIRECTORY";
constexpr const char* kChildRound = "KEELSON_CRASH_ROUND";
constexpr int kChildPipe = 3;

Task<void> WriteForever(Store* store, int round, int writer) {
  for (int i = 0;; ++i) {
    std::string key = fmt::format("key-{}-{}", writer, i % 20);
    std::string token = fmt::format("{}.{}.{}", round, writer, i);
    std::string line = fmt::format("try {} {}\n", key, token);
    if (write(kChildPipe, line.data(), line.size()) < 0) co_return;
    auto result = co_await Put(*store, key, token);
    if (!result) co_return;
    line = fmt::format("ack {} {} {}\n", key, token, result->revision);
    if (write(kChildPipe, line.data(), line.size()) < 0) co_return;
  }
}

// Not a test of its own: what KillMinusNine runs in its children.
TEST(CrashChild, WritesUntilKilled) {
  const char* directory = std::getenv(kChildDirectory);
  if (directory == nullptr) GTEST_SKIP() << "runs in a child of KillMinusNine";
  SystemClock clock;
  auto store = OpenRocksDbStore(SmallStore(directory), clock).value();
  ThreadExecutor io("io");
  Gate gate;
  for (int writer = 0; writer < 8; ++writer) {
    gate.Spawn(&io, WriteForever(store.get(), std::atoi(std::getenv(kChildRound)), writer));
  }
  gate.CloseAndWait();
}

pid_t StartChild(const std::string& directory, int round, int* read_end) {
  int ends[2];
  KEELSON_CHECK(pipe(ends) == 0);
  std::string dir_setting = fmt::format("{}={}", kChildDirectory, directory);
  std::string round_setting = fmt::format("{}={}", kChildRound, round);
  pid_t child = fork();
  KEELSON_CHECK(child >= 0);
  if (child == 0) {
    dup2(ends[1], kChildPipe);
    char* arguments[] = {const_cast<char*>("child"),
                         const_cast<char*>("--gtest_filter=CrashChild.WritesUntilKilled"), nullptr};
    char* environment[] = {dir_setting.data(), round_setting.data(), nullptr};
    freopen("/dev/null", "w", stdout);
    execve("/proc/self/exe", arguments, environment);
    _exit(127);
  }
  close(ends[1]);
  *read_end = ends[0];
  return child;
}

// Reads the child's lines; kills it after `lines`, then reads what it still had said.
void Follow(pid_t child, int read_end, int lines, Client& client) {
  FILE* in = fdopen(read_end, "r");
  char line[256];
  int acknowledged = 0;
  while (fgets(line, sizeof(line), in) != nullptr) {
    char key[64], token[64];
    long long revision = 0;
    if (std::string_view(line).back() != '\n') break;
    if (sscanf(line, "try %63s %63s", key, token) == 2) client.Tried(key, token);
    if (sscanf(line, "ack %63s %63s %lld", key, token, &revision) == 3) {
      client.Acknowledged(key, token, revision);
      if (++acknowledged == lines) kill(child, SIGKILL);
    }
  }
  fclose(in);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself";
}

TEST(KillMinusNine, LosesNothingAcknowledged) {
  const char* wanted = std::getenv("KEELSON_CRASH_ROUNDS");
  int rounds = wanted != nullptr ? std::atoi(wanted) : 10;
  TempDirectory directory;
  std::string path = directory.path() + "/store";
  Client client;
  std::mt19937_64 random(FirstSeed());
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    int read_end = -1;
    pid_t child = StartChild(path, round, &read_end);
    ASSERT_NO_FATAL_FAILURE(Follow(child, read_end, 1 + static_cast<int>(random() % 200), client));
    SystemClock clock;
    auto opened = OpenRocksDbStore(SmallStore(path), clock);
    ASSERT_TRUE(opened) << opened.error().message;
    client.Check(**opened);
    Await((*opened)->Close());
  }
}

}  // namespace
}  // namespace keelson::kv::testing
