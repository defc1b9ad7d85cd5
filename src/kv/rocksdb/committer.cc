#include "kv/rocksdb/committer.h"

#include <pthread.h>
#include <rocksdb/convenience.h>
#include <rocksdb/iterator.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace keelson::kv {
namespace {

// A group is bounded so that the first of many does not wait for the last to be written.
constexpr size_t kGroupTransactions = 512;
constexpr size_t kGroupBytes = size_t{4} << 20;
constexpr Duration kTick = std::chrono::seconds(5);
constexpr Duration kShortestTick = std::chrono::milliseconds(50);
constexpr Duration kRecoveryPause = std::chrono::seconds(1);
constexpr Duration kExpiryRetry = std::chrono::seconds(1);
constexpr uint64_t kWorthFlushing = 256 << 10;

size_t Bytes(const Transaction& transaction) {
  size_t bytes = 0;
  for (const auto& operation : transaction.operations) bytes += operation.value.size();
  return bytes;
}

}  // namespace

Committer::Committer(Parts parts, Revision revision)
    : parts_(parts),
      revision_(revision),
      changes_(revision),
      history_(parts.options.history_age, parts.options.history_bytes),
      last_recovery_(parts.clock.Now() - kRecoveryPause) {
  uint64_t logged = 0;
  parts_.database.db().GetIntProperty(parts_.database.log(),
                                      rocksdb::DB::Properties::kLiveSstFilesSize, &logged);
  if (revision > parts_.compacted.load()) history_.Add(revision, logged, parts_.clock.Now());
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "kv-commit");
  ArmTick();
}

Committer::~Committer() { KEELSON_CHECK(!thread_.joinable()); }

bool Committer::Submit(Job job) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
    queue_.push_back(std::move(job));
    if (queue_.size() > 1) return true;  // whoever made it non-empty has woken the thread
  }
  wake_.notify_one();
  return true;
}

void Committer::Stop() {
  std::optional<Clock::TimerId> tick;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    tick = tick_;
  }
  if (tick && !parts_.clock.Cancel(*tick)) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return !tick_; });
  }
  wake_.notify_all();
  thread_.join();
}

void Committer::Run() {
  std::vector<TransactionJob> group;
  for (;;) {
    std::optional<Job> alone;
    group.clear();
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      TakeGroup(group, alone);
    }
    if (alone) {
      std::visit([&](auto& job) { Handle(job); }, *alone);
    } else {
      Handle(group);
    }
    // Watches were told before the answers; their readers are woken after the writers, who wait
    // for nothing else.
    wakes_.Run();
  }
}

void Committer::TakeGroup(std::vector<TransactionJob>& group, std::optional<Job>& alone) {
  size_t bytes = 0;
  while (!queue_.empty() && group.size() < kGroupTransactions && bytes < kGroupBytes) {
    auto* job = std::get_if<TransactionJob>(&queue_.front());
    if (job == nullptr && !group.empty()) return;
    if (job == nullptr) {
      alone = std::move(queue_.front());
      queue_.pop_front();
      return;
    }
    bytes += Bytes(job->transaction);
    group.push_back(std::move(*job));
    queue_.pop_front();
  }
}

Result<KeyValue> Committer::Lookup(std::string_view key) {
  TRY(auto state, parts_.database.ReadState({}, key));
  return *std::move(state);
}

Application Committer::NewApplication() {
  return Application(
      revision_, [this](std::string_view key) { return Lookup(key); },
      [this](LeaseId id) { return parts_.leases.Has(id); });
}

// What callers have seen of their keys counts as read unless the keys may have changed since.
void Committer::TakeKnown(const std::vector<TransactionJob>& group,
                          Application& application) const {
  for (const auto& job : group) {
    const auto& transaction = job.transaction;
    if (transaction.known_at > revision_) continue;
    for (const auto& state : transaction.known) {
      if (changes_.UnchangedSince(state.key.view(), transaction.known_at)) {
        application.Know(state.key.view(), state.exists() ? state : KeyValue{});
      }
    }
  }
}

// Reads what the transactions of a group are about and nobody knows, all at once.
Result<void> Committer::LookUpAll(const std::vector<TransactionJob>& group,
                                  Application& application) {
  std::vector<std::string_view> keys;
  auto want = [&](std::string_view key) {
    if (!application.Knows(key)) keys.push_back(key);
  };
  for (const auto& job : group) {
    for (const auto& compare : job.transaction.compares) want(compare.key);
    for (const auto& operation : job.transaction.operations) want(operation.key);
  }
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  if (keys.size() < 2) return {};
  TRY(auto states, parts_.database.ReadStates(keys));
  for (size_t i = 0; i < keys.size(); ++i) application.Know(keys[i], std::move(states[i]));
  return {};
}

Result<void> Committer::CheckWritable() {
  auto failure = parts_.database.failure();
  if (!failure) return {};
  TimePoint now = parts_.clock.Now();
  if (now - last_recovery_ < kRecoveryPause) return std::unexpected(*std::move(failure));
  last_recovery_ = now;
  return parts_.database.Recover();
}

void Committer::Handle(std::vector<TransactionJob>& group) {
  Application application = NewApplication();
  auto written = CheckWritable();
  TakeKnown(group, application);
  if (written) written = LookUpAll(group, application);
  if (written) {
    for (auto& job : group) {
      auto wanted = CheckCall(job.call, parts_.deadlines);
      job.outcome = wanted ? application.Apply(job.transaction)
                           : Result<TransactionResult>(std::unexpected(wanted.error()));
    }
    written = Write(application);
  }
  // Also those that changed nothing wait for the write: they may have seen changes of the group.
  for (auto& job : group) {
    if (!written) job.outcome = std::unexpected(written.error());
    job.reply->Set(*std::move(job.outcome));
  }
}

void Committer::Handle(TransactionJob& job) {
  std::vector<TransactionJob> group;
  group.push_back(std::move(job));
  Handle(group);
}

void Committer::AddEvent(const Event& event, uint32_t index) {
  auto& database = parts_.database;
  std::string_view key = event.kv.key.view();
  rocksdb::Slice key_part = ToRocks(key);
  rocksdb::SliceParts key_parts(&key_part, 1);
  if (event.type == Event::Type::kPut) {
    state_header_.clear();
    format::AppendStateHeader(state_header_, event.kv);
    rocksdb::Slice state[] = {ToRocks(state_header_), ToRocks(event.kv.value.view())};
    batch_.Put(database.current(), key_parts, rocksdb::SliceParts(state, 2));
  } else {
    batch_.Delete(database.current(), key_part);
  }

  auto log_key = format::MakeLogKey(event.kv.mod_revision, index);
  rocksdb::Slice log_key_part = ToRocks(format::View(log_key));
  format::EncodeChange(event, change_);
  rocksdb::Slice change[] = {ToRocks(change_.head), ToRocks(change_.value), ToRocks(change_.middle),
                             ToRocks(change_.difference)};
  for (const auto& part : change) log_bytes_ += part.size();
  batch_.Put(database.log(), rocksdb::SliceParts(&log_key_part, 1), rocksdb::SliceParts(change, 4));

  if (event.previous.lease != event.kv.lease) {
    if (event.previous.lease != 0) {
      batch_.Delete(database.meta(), format::LeaseKeyRow(event.previous.lease, key));
    }
    if (event.kv.lease != 0) {
      batch_.Put(database.meta(), format::LeaseKeyRow(event.kv.lease, key), rocksdb::Slice());
    }
  }
}

Result<void> Committer::Write(const Application& application, bool trim) {
  log_bytes_ = 0;
  uint32_t index = 0;
  Revision last = 0;
  for (const Event& event : application.events()) {
    index = event.kv.mod_revision == last ? index + 1 : 0;
    last = event.kv.mod_revision;
    AddEvent(event, index);
  }
  if (application.revision() != revision_) {
    batch_.Put(parts_.database.meta(), ToRocks(format::kRevisionKey),
               format::EncodeU64(application.revision()));
  }
  if (batch_.Count() == 0 && !trim) return {};
  auto excess = std::exchange(excess_, std::nullopt);
  if (excess) {
    batch_.Put(parts_.database.meta(), ToRocks(format::kCompactedKey), format::EncodeU64(*excess));
  }
  auto written = parts_.database.Write(batch_);
  batch_.Clear();
  if (!written) {
    excess_ = excess;
    return written;
  }

  commits_.fetch_add(1, std::memory_order_relaxed);
  transactions_.fetch_add(application.revision() - revision_, std::memory_order_relaxed);
  if (application.revision() != revision_) {
    revision_ = application.revision();
    for (const Event& event : application.events()) {
      changes_.Add(event.kv.key.view(), event.kv.mod_revision);
    }
    history_.Add(revision_, log_bytes_, parts_.clock.Now());
    wakes_.Run();
    wakes_ = parts_.hub.Publish(application.events(), revision_);
  }
  if (excess) TrimHistory(*excess);
  // Larger steps would do, but the log must not outgrow its bound between two ticks.
  FindExcess();
  history_bytes_.store(history_.bytes(), std::memory_order_relaxed);
  ArmTick();
  return {};
}

// --- leases ---

void Committer::Handle(GrantJob& job) {
  auto grant = [&]() -> Result<Lease> {
    TRY_VOID(CheckWritable());
    LeaseId id = job.id != 0 ? job.id : parts_.leases.NewId();
    if (parts_.leases.Has(id))
      return Fail(ErrorCode::kAlreadyExists, "lease {} exists already", id);
    std::string ttl;
    format::PutVarint(ttl, std::chrono::duration_cast<std::chrono::seconds>(job.ttl).count());
    batch_.Put(parts_.database.meta(), format::LeaseRowKey(id), ttl);
    TRY_VOID(Write(NewApplication()));
    return parts_.leases.Grant(id, job.ttl);
  };
  job.reply->Set(grant());
}

Result<Transaction> Committer::DeletionOf(LeaseId id) {
  Transaction deletion;
  std::string prefix = format::LeaseKeyRowPrefix(id);
  auto& database = parts_.database;
  std::unique_ptr<rocksdb::Iterator> rows(database.db().NewIterator({}, database.meta()));
  for (rows->Seek(prefix); rows->Valid() && rows->key().starts_with(prefix); rows->Next()) {
    std::string_view key = FromRocks(rows->key()).substr(prefix.size());
    deletion.operations.push_back(Operation::Delete(std::string(key)));
  }
  if (!rows->status().ok()) {
    return std::unexpected(database.ToError(rows->status(), "reading a lease's keys"));
  }
  return deletion;
}

Result<void> Committer::Revoke(LeaseId id) {
  TRY_VOID(CheckWritable());
  TRY_VOID(parts_.leases.Get(id));
  TRY(Transaction deletion, DeletionOf(id));
  Application application = NewApplication();
  TRY_VOID(application.Apply(deletion));
  batch_.Delete(parts_.database.meta(), format::LeaseRowKey(id));
  TRY_VOID(Write(application));
  parts_.leases.Remove(id);
  return {};
}

void Committer::Handle(RevokeJob& job) { job.reply->Set(Revoke(job.id)); }

void Committer::Handle(ExpireJob&) {
  for (LeaseId id : parts_.leases.TakeExpired(kExpiryRetry)) {
    if (auto revoked = Revoke(id); !revoked && log::V(2)) {
      log::WarningS("A lease could not be ended",
                    {{"lease", id}, {"err", revoked.error().message}});
    }
  }
}

// --- history ---

void Committer::Handle(CompactJob& job) {
  auto compact = [&]() -> Result<void> {
    TRY_VOID(CheckWritable());
    Revision compacted = parts_.compacted.load();
    if (job.revision > revision_) {
      return Fail(ErrorCode::kInvalid, "revision {} does not exist yet; now is {}", job.revision,
                  revision_);
    }
    if (job.revision <= compacted) {
      return Fail(ErrorCode::kExpired, "revision {} was compacted, up to {}", job.revision,
                  compacted);
    }
    excess_ = std::max(job.revision, excess_.value_or(0));
    return Write(NewApplication(), /*trim=*/true);
  };
  job.reply->Set(compact());
}

// The compacted revision has just become durable: readers stop at it from now on, and whole files
// of older changes go. What shares a file with newer ones is out of reach and goes with that file.
void Committer::TrimHistory(Revision through) {
  parts_.compacted.store(through);
  parts_.reader.Post([&database = parts_.database, through] {
    auto begin_key = format::MakeLogKey(0, 0);
    auto end_key = format::MakeLogKey(through + 1, 0);
    rocksdb::Slice begin = ToRocks(format::View(begin_key));
    rocksdb::Slice end = ToRocks(format::View(end_key));
    auto status = rocksdb::DeleteFilesInRange(&database.db(), database.log(), &begin, &end,
                                              /*include_end=*/false);
    if (!status.ok()) log::WarningS("Trimming history failed", {{"err", status.ToString()}});
  });
}

void Committer::FindExcess() {
  auto more = history_.TakeExcess(parts_.clock.Now());
  if (more && *more > parts_.compacted.load()) excess_ = std::max(*more, excess_.value_or(0));
}

void Committer::ArmTick() {
  std::lock_guard lock(mutex_);
  if (tick_ || stopping_) return;
  const Duration age = parts_.options.history_age;
  const auto pause = age == Duration::zero() ? kTick : std::clamp(age / 4, kShortestTick, kTick);
  tick_ = parts_.clock.Schedule(parts_.clock.Now() + pause, [this] {
    std::lock_guard lock(mutex_);
    if (!stopping_) queue_.push_back(TickJob{});
    tick_.reset();
    wake_.notify_all();
  });
}

void Committer::Handle(TickJob&) {
  auto& database = parts_.database;
  FindExcess();
  if (excess_ && CheckWritable()) (void)Write(NewApplication(), /*trim=*/true);
  bool quiet = commits() == commits_at_tick_;
  commits_at_tick_ = commits();
  uint64_t unwritten = 0;
  database.db().GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &unwritten);
  bool worth = unwritten > kWorthFlushing;
  if (quiet && worth && !database.failure()) {
    parts_.reader.Post([&database] {
      (void)database.db().Flush({}, {database.meta(), database.current(), database.log()});
    });
  }
  if (!quiet || worth || !history_.empty()) ArmTick();
}

}  // namespace keelson::kv
