#include "kv/testing/model.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "kv/testing/sync.h"

namespace keelson::kv::testing {
namespace {

constexpr int kSteps = 120;
constexpr int kKeys = 9;

struct ModelState {
  std::string value;
  Revision create = 0;
  Revision mod = 0;
  int64_t version = 0;
  LeaseId lease = 0;
  bool operator==(const ModelState&) const = default;
};
using ModelMap = std::map<std::string, ModelState>;

std::string Show(const std::string& key, const ModelState& state) {
  return fmt::format("{}={} {}/{}/{}/{}\n", key, state.value, state.create, state.mod,
                     state.version, state.lease);
}

std::string Show(const KeyValue& kv) {
  return Show(std::string(kv.key.view()), {std::string(kv.value.view()), kv.create_revision,
                                           kv.mod_revision, kv.version, kv.lease});
}

class Run {
 public:
  Run(const BackendParam& param, uint64_t seed)
      : random_(seed),
        backend_(param.make()),
        compaction_takes_previous_(param.compaction_takes_previous) {
    revision_ = Await(store().CurrentRevision()).value();
    history_[revision_] = {};
  }

  void Go() {
    for (int step = 0; step < kSteps && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE(fmt::format("step {}", step));
      Step();
    }
    for (auto& watch : watches_) CatchUp(watch);
  }

 private:
  struct Watcher {
    std::unique_ptr<Watch> watch;
    KeyRange range;
    Revision next;  // the first revision it has not told about
  };

  Store& store() { return backend_->store(); }
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  const ModelMap& Now() const { return history_.at(revision_); }
  std::string Key() { return fmt::format("k{}", Below(kKeys)); }

  KeyRange SomeRange() {
    switch (Below(4)) {
      case 0:
        return KeyRange::All();
      case 1:
        return KeyRange::Key(Key());
      default: {
        auto a = Below(kKeys), b = Below(kKeys);
        return {fmt::format("k{}", std::min(a, b)), fmt::format("k{}", std::max(a, b) + 1)};
      }
    }
  }

  Revision SomeRevision() {
    Revision first = history_.begin()->first;
    return first + static_cast<Revision>(Below(revision_ - first + 2));
  }

  void Step() {
    switch (Below(20)) {
      case 0:
        return Compact();
      case 1:
        return ReadAt(SomeRevision());
      case 2:
      case 3:
        return ReadAt(0);
      case 4:
        return ReadKey();
      case 5:
      case 6:
        return StartWatch();
      case 7:
      case 8:
      case 9:
        if (!watches_.empty()) CatchUp(watches_[Below(watches_.size())]);
        return;
      case 10:
        return Leases();
      case 11:
        if (Below(4) == 0) Restart();
        return;
      default:
        return Write();
    }
  }

  void Write() {
    Transaction transaction;
    std::set<std::string> keys;
    for (uint64_t i = 0, n = 1 + Below(3); i < n; ++i) keys.insert(Key());
    bool holds = true;
    for (const auto& key : keys) {
      auto found = Now().find(key);
      Revision mod = found == Now().end() ? 0 : found->second.mod;
      if (Below(3) == 0) {
        Revision operand = Below(5) == 0 ? SomeRevision() : mod;
        holds = holds && operand == mod;
        transaction.compares.push_back(Compare::ModRevision(key, operand));
      }
      LeaseId lease = !leases_.empty() && Below(4) == 0 ? *leases_.begin() : 0;
      std::string value(Below(40), static_cast<char>('a' + Below(26)));
      transaction.operations.push_back(
          Below(4) == 0
              ? Operation::Delete(key)
              : Operation::Put(key, Slice::Own(fmt::format("{}{}", revision_, value)), lease));
    }
    transaction.read_on_failure.assign(keys.begin(), keys.end());
    if (Below(2) == 0) Tell(transaction, keys);
    auto result = Await(store().Commit(transaction));
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(result->succeeded, holds);
    if (holds) {
      Apply(transaction.operations);
    } else {
      std::string expected, actual;
      for (const auto& key : keys) {
        if (auto found = Now().find(key); found != Now().end())
          expected += Show(key, found->second);
      }
      for (const auto& kv : result->current) actual += kv.exists() ? Show(kv) : "";
      ASSERT_EQ(actual, expected);
    }
    ASSERT_EQ(result->revision, revision_);
  }

  // What an earlier reader knows about the keys: all of them as of now, or of some time ago.
  void Tell(Transaction& transaction, const std::set<std::string>& keys) {
    transaction.known_at = Below(2) == 0 ? revision_ : std::min(SomeRevision(), revision_);
    const ModelMap& then = history_.at(transaction.known_at);
    for (const auto& key : keys) {
      KeyValue known{.key = Slice::Copy(key)};
      if (auto found = then.find(key); found != then.end()) {
        const ModelState& state = found->second;
        known = {known.key,  Slice::Copy(state.value), state.create, state.mod, state.version,
                 state.lease};
      }
      transaction.known.push_back(std::move(known));
    }
  }

  void Apply(const std::vector<Operation>& operations) {
    ModelMap after = Now();
    Revision revision = revision_ + 1;
    bool changed = false;
    for (const auto& operation : operations) {
      if (operation.type == Operation::Type::kDelete) {
        changed |= after.erase(operation.key) != 0;
        continue;
      }
      ModelState& state = after[operation.key];
      if (state.mod == 0) state.create = revision;
      state = {std::string(operation.value.view()), state.create, revision, state.version + 1,
               operation.lease};
      changed = true;
    }
    if (!changed) return;
    revision_ = revision;
    history_[revision] = std::move(after);
  }

  void ReadKey() {
    std::string key = Key();
    auto result = Await(store().Get(key)).value();
    auto found = Now().find(key);
    ASSERT_EQ(result.revision, revision_);
    ASSERT_EQ(result.item ? Show(*result.item) : "",
              found == Now().end() ? "" : Show(key, found->second));
  }

  void ReadAt(Revision revision) {
    KeyRange range = SomeRange();
    auto limit = static_cast<int64_t>(Below(5));
    auto result = Await(
        store().Range({.range = range, .revision = revision, .limit = limit, .want_count = true}));
    if (revision > revision_) {
      ASSERT_EQ(result.error().code, ErrorCode::kInvalid);
      return;
    }
    if (revision != 0 && revision < compacted_) {
      ASSERT_EQ(result.error().code, ErrorCode::kExpired);
      return;
    }
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(result->revision, revision_);
    std::string expected, actual;
    int64_t count = 0;
    for (const auto& [key, state] : history_.at(revision == 0 ? revision_ : revision)) {
      if (!range.Contains(key)) continue;
      if (++count <= limit || limit == 0) expected += Show(key, state);
    }
    for (const auto& kv : result->items) actual += Show(kv);
    ASSERT_EQ(actual, expected);
    ASSERT_EQ(result->count, count);
    ASSERT_EQ(result->more, limit != 0 && count > limit);
  }

  void Compact() {
    if (compaction_takes_previous_) {
      for (auto& watch : watches_) CatchUp(watch);
    }
    Revision revision = SomeRevision();
    auto result = Await(store().Compact(revision));
    if (revision > revision_) {
      ASSERT_EQ(result.error().code, ErrorCode::kInvalid);
    } else if (revision <= compacted_) {
      ASSERT_EQ(result.error().code, ErrorCode::kExpired);
    } else {
      ASSERT_TRUE(result) << result.error().message;
      compacted_ = revision;
      ASSERT_EQ(store().CompactedRevision(), compacted_);
    }
  }

  void Leases() {
    if (leases_.empty() || Below(3) != 0) {
      auto lease = Await(store().GrantLease(std::chrono::hours(1))).value();
      ASSERT_TRUE(leases_.insert(lease.id).second);
      return;
    }
    LeaseId id = *leases_.begin();
    std::vector<Operation> deletions;
    for (const auto& [key, state] : Now()) {
      if (state.lease == id) deletions.push_back(Operation::Delete(key));
    }
    ASSERT_EQ(Await(store().GetLease(id)).value().keys.size(), deletions.size());
    ASSERT_TRUE(Await(store().RevokeLease(id)));
    leases_.erase(id);
    Apply(deletions);
    ASSERT_EQ(Await(store().CurrentRevision()).value(), revision_);
  }

  void StartWatch() {
    Watcher watcher{.watch = {}, .range = SomeRange(), .next = SomeRevision()};
    size_t buffer = Below(2) == 0 ? 300 : size_t{1} << 20;
    watcher.watch =
        store()
            .StartWatch({.range = watcher.range, .start = watcher.next, .buffer_bytes = buffer})
            .value();
    watches_.push_back(std::move(watcher));
  }

  // What a watch must tell between two revisions: the differences between the model's maps.
  std::string Expected(const KeyRange& range, Revision from, Revision through) {
    std::string text;
    for (Revision revision = std::max(from, history_.begin()->first + 1); revision <= through;
         ++revision) {
      const ModelMap& before = history_.at(revision - 1);
      const ModelMap& after = history_.at(revision);
      std::map<std::string, std::string> changes;
      for (const auto& [key, state] : after) {
        auto was = before.find(key);
        if (was == before.end()) {
          changes[key] = "put " + Show(key, state);
        } else if (was->second.mod != state.mod) {
          changes[key] = "put " + Show(key, state) + "was " + Show(key, was->second);
        }
      }
      for (const auto& [key, state] : before) {
        if (!after.contains(key)) {
          changes[key] = fmt::format("delete {} {}\nwas ", key, revision) + Show(key, state);
        }
      }
      for (const auto& [key, change] : changes) {
        if (range.Contains(key)) text += change;
      }
    }
    return text;
  }

  void CatchUp(Watcher& watcher) {
    if (!watcher.watch) return;
    std::string actual;
    Revision from = watcher.next, through = from - 1;
    watcher.watch->RequestProgress();
    while (through < revision_) {
      auto batch = Await(watcher.watch->Next());
      if (!batch) {
        // Only a watch that has not caught up by itself may be overtaken by compaction.
        ASSERT_EQ(batch.error().code, ErrorCode::kExpired) << batch.error().message;
        ASSERT_LE(through + 1, compacted_);
        ASSERT_EQ(watcher.watch->CompactedRevision(), compacted_);
        watcher.watch.reset();
        break;
      }
      ASSERT_GE(batch->revision, through);
      for (const Event& event : batch->events) actual += Show(event);
      through = batch->revision;
    }
    ASSERT_LE(through, std::max(revision_, from - 1));
    if (through >= from) ASSERT_EQ(actual, Expected(watcher.range, from, through));
    watcher.next = std::max(from, through + 1);
  }

  static std::string Show(const Event& event) {
    std::string text =
        event.type == Event::Type::kPut
            ? "put " + testing::Show(event.kv)
            : fmt::format("delete {} {}\n", event.kv.key.view(), event.kv.mod_revision);
    return event.previous.exists() ? text + "was " + testing::Show(event.previous) : text;
  }
  static std::string Show(const std::string& key, const ModelState& state) {
    return testing::Show(key, state);
  }
  static std::string Show(const KeyValue& kv) { return testing::Show(kv); }

  void Restart() {
    std::vector<std::pair<KeyRange, Revision>> resumed;
    for (auto& watcher : watches_) {
      if (watcher.watch) resumed.emplace_back(watcher.range, watcher.next);
    }
    watches_.clear();
    (void)backend_->Reopen();
    ASSERT_EQ(Await(store().CurrentRevision()).value(), revision_);
    for (auto& [range, next] : resumed) {
      auto watch = store().StartWatch({.range = range, .start = next}).value();
      watches_.push_back({std::move(watch), range, next});
    }
  }

  std::mt19937_64 random_;
  std::unique_ptr<Backend> backend_;
  const bool compaction_takes_previous_;
  Revision revision_ = 0;
  Revision compacted_ = 0;
  std::map<Revision, ModelMap> history_;
  std::set<LeaseId> leases_;
  std::vector<Watcher> watches_;
};

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

uint64_t FirstSeed() { return FromEnvironment("KEELSON_SEED", 1); }
uint64_t SeedCount(uint64_t standard) {
  return FromEnvironment("KEELSON_SEEDS", std::getenv("KEELSON_SEED") != nullptr ? 1 : standard);
}

void RunModel(const BackendParam& backend, uint64_t seed) {
  SCOPED_TRACE(fmt::format("KEELSON_SEED={}", seed));
  Run(backend, seed).Go();
}

}  // namespace keelson::kv::testing
