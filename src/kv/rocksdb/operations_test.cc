#include "kv/rocksdb/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kv/rocksdb/rocksdb_store.h"
#include "kv/rocksdb/store_command.h"
#include "kv/rocksdb/testing/temp_directory.h"
#include "kv/testing/sync.h"

namespace keelson::kv::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class Operations : public ::testing::Test {
 protected:
  void Open(const std::string& name = "store") {
    store_ = OpenRocksDbStore({.directory = Path(name)}, clock_).value();
  }
  void Close() {
    if (store_) Await(store_->Close());
    store_.reset();
  }
  ~Operations() override { Close(); }
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  Revision Put(const std::string& key, const std::string& value) {
    Transaction transaction;
    transaction.operations.push_back(Operation::Put(key, Slice::Copy(value)));
    return Await(store_->Commit(std::move(transaction))).value().revision;
  }
  void Fill() {
    for (int i = 0; i < 300; ++i) {
      Put(fmt::format("/registry/pods/default/p{}", i % 50),
          fmt::format("{}{}", i, std::string(500, 'x')));
      Put(fmt::format("/registry/secrets/default/s{}", i % 7), "s");
    }
    ASSERT_TRUE(Await(store_->Compact(200)));
  }
  std::string Everything(Revision revision = 0) {
    std::string text;
    for (const auto& kv :
         Await(store_->Range({.range = KeyRange::All(), .revision = revision})).value().items) {
      text += fmt::format("{}={}@{}/{}/{}\n", kv.key.view(), kv.value.view(), kv.mod_revision,
                          kv.create_revision, kv.version);
    }
    return text;
  }

  TempDirectory directory_;
  FakeClock clock_;
  std::unique_ptr<RocksDbStore> store_;
};

TEST_F(Operations, ARestoredSnapshotIsTheStoreWithItsHistory) {
  Open();
  Fill();
  std::string now = Everything(), then = Everything(300);
  Revision revision = store_->KnownRevision();
  auto taken = SnapshotStore(Path("store"), Path("snap"), nullptr);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(taken->revision, revision);
  EXPECT_EQ(taken->compacted_revision, 200);
  EXPECT_EQ(taken->keys, 57u);
  Put("/registry/pods/default/later", "not in the snapshot");
  Close();

  auto restored = RestoreStore(Path("snap"), Path("copy"), nullptr);
  ASSERT_TRUE(restored) << restored.error().message;
  Open("copy");
  EXPECT_EQ(store_->KnownRevision(), revision);
  EXPECT_EQ(Everything(), now);
  EXPECT_EQ(Everything(300), then);
  EXPECT_EQ(Put("next", "1"), revision + 1);
}

TEST_F(Operations, ASnapshotTakenUnderWritesIsOneInstant) {
  Open();
  Fill();
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i)
      Put(fmt::format("/registry/pods/default/p{}", i % 50), std::to_string(i));
  });
  for (int round = 0; round < 3; ++round) {
    std::string name = fmt::format("snap{}", round);
    ASSERT_TRUE(Await(store_->WriteSnapshot(Path(name))));
    ASSERT_TRUE(SnapshotStore(Path("store"), Path(name + "-attached"), nullptr));
    for (const auto& snapshot : {name, name + "-attached"}) {
      ASSERT_TRUE(RestoreStore(Path(snapshot), Path(snapshot + "-copy"), nullptr));
      auto report = VerifyStore(Path(snapshot + "-copy"), {}, nullptr);
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_THAT(report->problems, IsEmpty());
    }
  }
  stop = true;
  writer.join();
}

TEST_F(Operations, CompactingForgetsThePastAndNothingElse) {
  Open();
  Fill();
  std::string now = Everything();
  Revision revision = store_->KnownRevision();
  EXPECT_EQ(CompactStore(Path("store")).error().code, ErrorCode::kUnavailable);
  Close();
  auto stats = CompactStore(Path("store"));
  ASSERT_TRUE(stats) << stats.error().message;
  EXPECT_EQ(stats->revision, revision);
  EXPECT_EQ(stats->compacted_revision, revision);
  auto report = VerifyStore(Path("store"), {}, nullptr);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_EQ(report->info.changes, 0u);
  Open();
  EXPECT_EQ(Everything(), now);
  EXPECT_EQ(Everything(revision), now);
  EXPECT_EQ(Await(store_->Range({.range = KeyRange::All(), .revision = revision - 1})).error().code,
            ErrorCode::kExpired);
  EXPECT_EQ(Put("next", "1"), revision + 1);
  EXPECT_EQ(CompactStore(Path("nowhere")).error().code, ErrorCode::kNotFound);
}

TEST_F(Operations, VerifyCountsPerResourceAndAsksTheCallerAboutValues) {
  Open();
  Fill();
  auto report = VerifyStore(
      Path("store"),
      [](std::string_view key, std::string_view value) -> Result<void> {
        if (key.ends_with("/s3")) return Fail(ErrorCode::kCorrupt, "no secret");
        return {};
      },
      nullptr);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->keys_per_resource,
              UnorderedElementsAre(Pair("/registry/pods/", 50), Pair("/registry/secrets/", 7)));
  ASSERT_EQ(report->problems.size(), 1u);
  EXPECT_THAT(report->problems[0], HasSubstr("s3\": no secret"));
}

TEST_F(Operations, EveryFlippedByteOfASnapshotIsFound) {
  Open();
  for (int i = 0; i < 5; ++i) Put(fmt::format("k{}", i), "value");
  ASSERT_TRUE(SnapshotStore(Path("store"), Path("snap"), nullptr));
  std::ifstream in(Path("snap"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  auto check = [&](const std::string& changed) {
    std::ofstream(Path("bad"), std::ios::binary) << changed;
    return CheckSnapshot(Path("bad"), nullptr).has_value();
  };
  EXPECT_TRUE(check(bytes));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] ^= 0x40;
    EXPECT_FALSE(check(changed)) << "byte " << i;
    if (i % 7 == 0) EXPECT_FALSE(check(bytes.substr(0, i))) << "cut at " << i;
  }
  EXPECT_FALSE(check(bytes + "x"));
}

TEST_F(Operations, RestoreRefusesAnExistingFolder) {
  Open();
  ASSERT_TRUE(SnapshotStore(Path("store"), Path("snap"), nullptr));
  EXPECT_EQ(RestoreStore(Path("snap"), Path("store"), nullptr).error().code,
            ErrorCode::kAlreadyExists);
}

TEST_F(Operations, DamagedTableFilesAreReported) {
  Open();
  Fill();
  Close();
  std::filesystem::path largest;
  for (const auto& entry : std::filesystem::directory_iterator(Path("store/db"))) {
    if (entry.path().extension() != ".sst") continue;
    if (largest.empty() || entry.file_size() > std::filesystem::file_size(largest)) largest = entry;
  }
  std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(1000);
  file.put('\x7f');
  file.close();
  auto report = VerifyStore(Path("store"), {}, nullptr);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_FALSE(report->problems.empty());
  EXPECT_THAT(report->problems[0], HasSubstr(largest.filename().string()));
}

TEST_F(Operations, ASecondProcessIsRefusedAndToldWhoHoldsTheStore) {
  Open();
  auto second = OpenRocksDbStore({.directory = Path("store")}, clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr(fmt::format("in use by process {} (", getpid())));
}

TEST_F(Operations, TheCommandLineReachesThem) {
  Open();
  Fill();
  std::string store = "--data-dir=" + directory_.path(), copy = "--data-dir=" + Path("copy");
  std::string snap = Path("snap");
  using Arguments = std::vector<std::string_view>;
  EXPECT_EQ(RunStoreCommand(Arguments{"snapshot", store, snap}, {}), 0);
  EXPECT_EQ(RunStoreCommand(Arguments{"restore", copy, snap}, {}), 0);
  EXPECT_EQ(RunStoreCommand(Arguments{"verify", copy}, {}), 0);
  EXPECT_EQ(RunStoreCommand(Arguments{"stats", copy}, {}), 0);
  EXPECT_EQ(RunStoreCommand(Arguments{"restore", copy, snap}, {}), 1);
  EXPECT_EQ(RunStoreCommand(Arguments{"snapshot", store}, {}), 2);
  EXPECT_EQ(RunStoreCommand(Arguments{"verify"}, {}), 2);
}

}  // namespace
}  // namespace keelson::kv::testing
