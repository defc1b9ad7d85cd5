#include "kv/memory_store.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "kv/call.h"
#include "kv/history_window.h"
#include "kv/lease_table.h"
#include "kv/watch_hub.h"

// Each key keeps its states since the compacted revision, oldest first; a deletion is a state that
// does not exist but knows its revision. The log is one deque of events. Everything is guarded by
// one mutex; commits publish with it held, so that watches hear of them in order.

namespace keelson::kv {
namespace {

constexpr Duration kExpiryRetry = std::chrono::seconds(1);

struct KeyState {
  Revision since;
  KeyValue kv;  // !exists() from a deletion on
};

class MemoryStore final : public Store, public EventLog {
 public:
  MemoryStore(Clock& clock, MemoryStoreOptions options)
      : options_(options),
        clock_(clock),
        history_(options.history_age, options.history_bytes),
        deadlines_(std::make_shared<Deadlines>(clock)),
        leases_(std::make_shared<LeaseTable>(clock, [this] { ExpireLeases(); })),
        hub_(std::make_shared<WatchHub>(kFirstRevision, this, nullptr, deadlines_)) {}

  ~MemoryStore() override { KEELSON_CHECK(closed_); }

  Task<Result<GetResult>> Get(std::string key, Call call) override {
    CO_TRY_VOID(Begin(call));
    std::lock_guard lock(mutex_);
    GetResult result{.revision = revision_};
    if (const KeyValue& kv = Current(key); kv.exists()) result.item = kv;
    co_return result;
  }

  Task<Result<RangeResult>> Range(RangeRequest request, Call call) override {
    CO_TRY_VOID(Begin(call));
    co_return ReadRange(request);
  }

  Task<Result<TransactionResult>> Commit(Transaction transaction, Call call) override {
    CO_TRY_VOID(Begin(call));
    CO_TRY_VOID(Validate(transaction, options_.limits));
    Wakes wakes;
    std::lock_guard lock(mutex_);
    co_return Write(transaction, wakes);
  }

  Result<std::unique_ptr<Watch>> StartWatch(WatchRequest request) override {
    return hub_->Start(std::move(request));
  }

  Task<Result<void>> Compact(Revision revision, Call call) override {
    CO_TRY_VOID(Begin(call));
    co_return Forget(revision);
  }

  Task<Result<Lease>> GrantLease(Duration ttl, LeaseId id, Call call) override {
    CO_TRY_VOID(Begin(call));
    CO_TRY(Duration seconds, LeaseTable::CheckTtl(ttl));
    co_return leases_->Grant(id != 0 ? id : leases_->NewId(), seconds);
  }

  Task<Result<Lease>> KeepAlive(LeaseId id, Call call) override {
    CO_TRY_VOID(Begin(call));
    co_return leases_->KeepAlive(id);
  }

  Task<Result<Lease>> GetLease(LeaseId id, Call call) override {
    CO_TRY_VOID(Begin(call));
    CO_TRY(Lease lease, leases_->Get(id));
    std::lock_guard lock(mutex_);
    lease.keys = KeysOf(id);
    co_return lease;
  }

  Task<Result<void>> RevokeLease(LeaseId id, Call call) override {
    CO_TRY_VOID(Begin(call));
    co_return Revoke(id);
  }

  Task<Result<Revision>> CurrentRevision(Call call) override {
    CO_TRY_VOID(Begin(call));
    co_return hub_->published();
  }
  Revision KnownRevision() const override { return hub_->published(); }
  Revision CompactedRevision() const override { return compacted_.load(); }

  Task<Result<void>> Health(Call call) override { co_return Begin(call); }

  Task<void> Close() override {
    closed_ = true;
    leases_->Stop();
    deadlines_->Stop();
    hub_->Close();
    co_return;
  }

 private:
  Result<void> Begin(const Call& call) const {
    if (closed_) return FailClosed();
    return CheckCall(call, *deadlines_);
  }

  const KeyValue& Current(std::string_view key) const {
    static const KeyValue kAbsent;
    auto found = keys_.find(key);
    return found == keys_.end() ? kAbsent : found->second.back().kv;
  }

  static const KeyValue* StateAt(const std::vector<KeyState>& states, Revision revision) {
    for (auto state = states.rbegin(); state != states.rend(); ++state) {
      if (state->since <= revision) return state->kv.exists() ? &state->kv : nullptr;
    }
    return nullptr;
  }

  Result<RangeResult> ReadRange(const RangeRequest& request);
  // With mutex_ held.
  Result<TransactionResult> Write(const Transaction& transaction, Wakes& wakes);
  void Record(const std::vector<Event>& events);
  void TrimHistory();
  void ForgetBelow(Revision revision);
  Result<void> Forget(Revision revision);
  Result<void> Revoke(LeaseId id);
  void ExpireLeases();
  std::vector<std::string> KeysOf(LeaseId id) const;

  Result<Chunk> ReadLog(const KeyRange& range, Revision from, size_t bytes) override;

  const MemoryStoreOptions options_;
  Clock& clock_;
  HistoryWindow history_;
  const std::shared_ptr<Deadlines> deadlines_;
  const std::shared_ptr<LeaseTable> leases_;
  std::atomic<bool> closed_ = false;
  std::atomic<Revision> compacted_ = 0;

  std::mutex mutex_;
  Revision revision_ = kFirstRevision;
  std::map<std::string, std::vector<KeyState>, std::less<>> keys_;
  std::deque<Event> log_;
  std::set<std::pair<LeaseId, std::string>> leased_;
  const std::shared_ptr<WatchHub> hub_;
};

Result<RangeResult> MemoryStore::ReadRange(const RangeRequest& request) {
  std::lock_guard lock(mutex_);
  TrimHistory();
  Revision at = request.revision == 0 ? revision_ : request.revision;
  if (at > revision_ || at < 0) {
    return Fail(ErrorCode::kInvalid, "revision {} does not exist yet; now is {}", at, revision_);
  }
  if (at < compacted_) {
    return Fail(ErrorCode::kExpired, "revision {} was compacted, up to {}", at, compacted_.load());
  }
  RangeResult result{.revision = revision_};
  bool counting = request.want_count || request.count_only;
  auto state = keys_.lower_bound(request.range.start);
  for (; state != keys_.end() && request.range.Contains(state->first); ++state) {
    const KeyValue* kv = StateAt(state->second, at);
    if (kv == nullptr) continue;
    ++result.count;
    if (request.count_only) continue;
    if (request.limit > 0 && static_cast<int64_t>(result.items.size()) >= request.limit) {
      result.more = true;
      if (!counting) break;
      continue;
    }
    result.items.push_back(*kv);
    if (request.keys_only) result.items.back().value = {};
  }
  if (!counting) result.count = 0;
  return result;
}

Result<TransactionResult> MemoryStore::Write(const Transaction& transaction, Wakes& wakes) {
  Application application(
      revision_, [this](std::string_view key) -> Result<KeyValue> { return Current(key); },
      [this](LeaseId id) { return leases_->Has(id); });
  TRY(auto result, application.Apply(transaction));
  if (application.events().empty()) return result;
  Record(application.events());
  revision_ = application.revision();
  wakes = hub_->Publish(application.events(), revision_);
  TrimHistory();
  return result;
}

void MemoryStore::Record(const std::vector<Event>& events) {
  size_t bytes = 0;
  for (const Event& event : events) {
    bytes += event.kv.key.size() + event.kv.value.size();
    std::string key(event.kv.key.view());
    if (event.previous.lease != 0) leased_.erase({event.previous.lease, key});
    if (event.kv.lease != 0) leased_.emplace(event.kv.lease, key);
    KeyValue after = event.type == Event::Type::kPut ? event.kv : KeyValue{};
    keys_[std::move(key)].push_back({event.kv.mod_revision, std::move(after)});
    log_.push_back(event);
  }
  history_.Add(events.back().kv.mod_revision, bytes, clock_.Now());
}

void MemoryStore::TrimHistory() {
  auto excess = history_.TakeExcess(clock_.Now());
  if (excess && *excess > compacted_) ForgetBelow(*excess);
}

Result<void> MemoryStore::Forget(Revision revision) {
  std::lock_guard lock(mutex_);
  if (revision > revision_) {
    return Fail(ErrorCode::kInvalid, "revision {} does not exist yet; now is {}", revision,
                revision_);
  }
  if (revision <= compacted_) {
    return Fail(ErrorCode::kExpired, "revision {} was compacted, up to {}", revision,
                compacted_.load());
  }
  ForgetBelow(revision);
  return {};
}

void MemoryStore::ForgetBelow(Revision revision) {
  compacted_ = revision;
  while (!log_.empty() && log_.front().kv.mod_revision <= revision) log_.pop_front();
  for (auto entry = keys_.begin(); entry != keys_.end();) {
    auto& states = entry->second;
    // The newest state at or before the revision is still needed, unless it is a deletion.
    while (states.size() > 1 && states[1].since <= revision) states.erase(states.begin());
    if (states[0].since <= revision && !states[0].kv.exists()) states.erase(states.begin());
    entry = states.empty() ? keys_.erase(entry) : std::next(entry);
  }
}

std::vector<std::string> MemoryStore::KeysOf(LeaseId id) const {
  std::vector<std::string> keys;
  for (auto at = leased_.lower_bound({id, {}}); at != leased_.end() && at->first == id; ++at) {
    keys.push_back(at->second);
  }
  return keys;
}

Result<void> MemoryStore::Revoke(LeaseId id) {
  TRY_VOID(leases_->Get(id));
  Wakes wakes;
  std::lock_guard lock(mutex_);
  Transaction transaction;
  for (auto& key : KeysOf(id)) transaction.operations.push_back(Operation::Delete(std::move(key)));
  TRY_VOID(Write(transaction, wakes));
  leases_->Remove(id);
  return {};
}

void MemoryStore::ExpireLeases() {
  for (LeaseId id : leases_->TakeExpired(kExpiryRetry)) (void)Revoke(id);
}

Result<EventLog::Chunk> MemoryStore::ReadLog(const KeyRange& range, Revision from, size_t bytes) {
  std::lock_guard lock(mutex_);
  TrimHistory();
  if (from <= compacted_) {
    return Fail(ErrorCode::kExpired, "revision {} was compacted, up to {}", from,
                compacted_.load());
  }
  Chunk chunk{.through = revision_};
  size_t taken = 0;
  auto at = std::lower_bound(
      log_.begin(), log_.end(), from,
      [](const Event& event, Revision revision) { return event.kv.mod_revision < revision; });
  for (; at != log_.end(); ++at) {
    bool next_commit =
        chunk.events.empty() || chunk.events.back().kv.mod_revision != at->kv.mod_revision;
    if (taken >= bytes && next_commit && !chunk.events.empty()) {
      chunk.through = at->kv.mod_revision - 1;
      break;
    }
    if (!range.Contains(at->kv.key.view())) continue;
    taken += at->kv.key.size() + at->kv.value.size() + at->previous.value.size();
    chunk.events.push_back(*at);
  }
  return chunk;
}

}  // namespace

std::unique_ptr<Store> NewMemoryStore(Clock& clock, MemoryStoreOptions options) {
  return std::make_unique<MemoryStore>(clock, options);
}

}  // namespace keelson::kv
