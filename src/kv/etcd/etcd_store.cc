#include "kv/etcd/etcd_store.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "base/gate.h"
#include "kv/apply.h"
#include "kv/call.h"
#include "kv/etcd/etcd_watch.h"
#include "kv/etcd/messages.h"
#include "kv/lease_table.h"

namespace keelson::kv {
namespace {

using etcd::Endpoints;
using etcd::Revisions;
using etcd::WatchSession;
namespace method = etcd::method;
using Repeat = Endpoints::Repeat;

// Sizes are etcd's to judge; what it would take amiss in other ways is refused here.
constexpr Limits kLimits{.operations = std::numeric_limits<size_t>::max(),
                         .bytes = std::numeric_limits<size_t>::max(),
                         .key_bytes = std::numeric_limits<size_t>::max()};

class Handle final : public Watch {
 public:
  explicit Handle(std::shared_ptr<WatchSession> session) : session_(std::move(session)) {}
  ~Handle() override { Cancel(); }

  Task<Result<WatchBatch>> Next(Call call) override {
    return WatchSession::Next(session_, std::move(call));
  }
  void RequestProgress() override { session_->RequestProgress(); }
  Revision Delivered() const override { return session_->Delivered(); }
  void Cancel() override { session_->End({ErrorCode::kCancelled, "the watch was cancelled"}); }
  Revision CompactedRevision() const override { return session_->compacted(); }

 private:
  const std::shared_ptr<WatchSession> session_;
};

class OpenStore final : public EtcdStore {
 public:
  OpenStore(std::unique_ptr<Endpoints> endpoints, Clock& clock)
      : clock_(clock),
        deadlines_(std::make_shared<Deadlines>(clock)),
        endpoints_(std::move(endpoints)) {}
  ~OpenStore() override { KEELSON_CHECK(closed_); }

  Task<Result<GetResult>> Get(std::string key, Call call) override;
  Task<Result<RangeResult>> Range(RangeRequest request, Call call) override;
  Task<Result<TransactionResult>> Commit(Transaction transaction, Call call) override;
  Result<std::unique_ptr<Watch>> StartWatch(WatchRequest request) override;
  Task<Result<void>> Compact(Revision revision, Call call) override;
  Task<Result<Lease>> GrantLease(Duration ttl, LeaseId id, Call call) override;
  Task<Result<Lease>> KeepAlive(LeaseId id, Call call) override;
  Task<Result<Lease>> GetLease(LeaseId id, Call call) override;
  Task<Result<void>> RevokeLease(LeaseId id, Call call) override;
  Task<Result<Revision>> CurrentRevision(Call call) override;
  Revision KnownRevision() const override { return revisions_->known; }
  Revision CompactedRevision() const override { return revisions_->compacted; }
  Task<Result<void>> Health(Call call) override;
  Task<void> Close() override;
  Task<Result<EtcdServerInfo>> Describe(Call call) override;

 private:
  // Finds out up to where history is gone, which etcd tells nobody: the least revision that can
  // be read, by halving.
  Task<Result<void>> LearnCompacted(Call call);
  // One call on an io thread, within the caller's limits.
  Task<Result<Slice>> Ask(std::string_view method, std::string message, Repeat repeat, Call call);
  Task<void> Exchange(std::string_view method, Slice message, Repeat repeat, Call call,
                      std::shared_ptr<Reply<Slice>> reply);
  Task<Result<Revision>> Probe(Revision revision, Call call);
  void Saw(Revision revision) { Revisions::Raise(revisions_->known, revision); }

  Clock& clock_;
  const std::shared_ptr<Revisions> revisions_ = std::make_shared<Revisions>();
  const std::shared_ptr<Deadlines> deadlines_;
  const std::unique_ptr<Endpoints> endpoints_;
  Gate calls_;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> met_ = false;  // the cluster has answered

  std::mutex watches_mutex_;
  std::vector<std::weak_ptr<WatchSession>> watches_;
};

Task<void> OpenStore::Exchange(std::string_view method, Slice message, Repeat repeat, Call call,
                               std::shared_ptr<Reply<Slice>> reply) {
  auto answer = co_await endpoints_->Call(method, std::move(message), repeat,
                                          {.stop = call.stop, .deadline = call.deadline});
  reply->Set(std::move(answer));
}

Task<Result<Slice>> OpenStore::Ask(std::string_view method, std::string message, Repeat repeat,
                                   Call call) {
  if (closed_) co_return FailClosed();
  CO_TRY_VOID(CheckCall(call, *deadlines_));
  auto reply = Reply<Slice>::Create();
  auto exchange = Exchange(method, Slice::Own(std::move(message)), repeat, call, reply);
  if (!calls_.Spawn(&endpoints_->Thread(), std::move(exchange))) co_return FailClosed();
  co_return co_await AwaitReply<Slice>(std::move(reply), std::move(call), deadlines_);
}

Task<Result<GetResult>> OpenStore::Get(std::string key, Call call) {
  if (key.empty()) co_return GetResult{.revision = revisions_->known};
  CO_TRY(auto range, co_await Range({.range = KeyRange::Key(key)}, std::move(call)));
  GetResult result{.revision = range.revision};
  if (!range.items.empty()) result.item = std::move(range.items.front());
  co_return result;
}

Task<Result<RangeResult>> OpenStore::Range(RangeRequest request, Call call) {
  if (request.revision < 0) {
    co_return Fail(ErrorCode::kInvalid, "revision {} is negative", request.revision);
  }
  if (!request.range.end.empty() && request.range.end <= request.range.start) {
    CO_TRY(auto revision, co_await CurrentRevision(std::move(call)));
    co_return RangeResult{.revision = revision};
  }
  auto answer = co_await Ask(method::kRange, etcd::EncodeRange(request), Repeat::kAlways, call);
  if (!answer) {
    if (answer.error().code == ErrorCode::kExpired) (void)co_await LearnCompacted(call);
    co_return std::unexpected(answer.error());
  }
  CO_TRY(auto result, etcd::DecodeRange(*answer));
  Saw(result.revision);
  if (!request.want_count && !request.count_only) result.count = 0;
  co_return result;
}

Task<Result<TransactionResult>> OpenStore::Commit(Transaction transaction, Call call) {
  CO_TRY_VOID(Validate(transaction, kLimits));
  const bool reads_only = transaction.operations.empty();
  CO_TRY(auto answer,
         co_await Ask(method::kTxn, etcd::EncodeTransaction(transaction),
                      reads_only ? Repeat::kAlways : Repeat::kWhenUnsent, std::move(call)));
  CO_TRY(auto result, etcd::DecodeTransaction(answer, transaction));
  Saw(result.revision);
  co_return result;
}

Result<std::unique_ptr<Watch>> OpenStore::StartWatch(WatchRequest request) {
  if (!request.range.end.empty() && request.range.end <= request.range.start) {
    return Fail(ErrorCode::kInvalid, "the range to watch is empty");
  }
  if (request.start < 0) return Fail(ErrorCode::kInvalid, "revision {} is negative", request.start);
  auto session = std::make_shared<WatchSession>(std::move(request), *endpoints_, clock_, revisions_,
                                                deadlines_);
  {
    std::lock_guard lock(watches_mutex_);
    if (closed_) return FailClosed();
    std::erase_if(watches_, [](const auto& watch) { return watch.expired(); });
    watches_.push_back(session);
  }
  if (!calls_.Spawn(&session->thread(), WatchSession::Run(session))) return FailClosed();
  return std::make_unique<Handle>(std::move(session));
}

Task<Result<void>> OpenStore::Compact(Revision revision, Call call) {
  auto answer =
      co_await Ask(method::kCompact, etcd::EncodeCompaction(revision), Repeat::kWhenUnsent, call);
  if (!answer) {
    if (answer.error().code == ErrorCode::kExpired) (void)co_await LearnCompacted(call);
    co_return std::unexpected(answer.error());
  }
  Revisions::Raise(revisions_->compacted, revision);
  co_return Result<void>();
}

Task<Result<Lease>> OpenStore::GrantLease(Duration ttl, LeaseId id, Call call) {
  CO_TRY(Duration seconds, LeaseTable::CheckTtl(ttl));
  auto request =
      etcd::EncodeLeaseGrant(std::chrono::duration_cast<std::chrono::seconds>(seconds).count(), id);
  CO_TRY(auto answer,
         co_await Ask(method::kLeaseGrant, std::move(request), Repeat::kWhenUnsent, call));
  CO_TRY(auto lease, etcd::DecodeLease(answer));
  const Duration granted = std::chrono::seconds(lease.ttl);
  co_return Lease{.id = lease.id, .ttl = granted, .remaining = granted, .keys = {}};
}

// The method is a stream in etcd; one message each way is one renewal.
Task<Result<Lease>> OpenStore::KeepAlive(LeaseId id, Call call) {
  CO_TRY(auto answer, co_await Ask(method::kLeaseKeepAlive, etcd::EncodeLeaseId(id),
                                   Repeat::kAlways, std::move(call)));
  CO_TRY(auto lease, etcd::DecodeLease(answer));
  if (lease.ttl <= 0) co_return Fail(ErrorCode::kNotFound, "lease {} does not exist", id);
  const Duration ttl = std::chrono::seconds(lease.ttl);
  co_return Lease{.id = id, .ttl = ttl, .remaining = ttl, .keys = {}};
}

Task<Result<Lease>> OpenStore::GetLease(LeaseId id, Call call) {
  CO_TRY(auto answer, co_await Ask(method::kLeaseTimeToLive, etcd::EncodeLeaseTimeToLive(id),
                                   Repeat::kAlways, std::move(call)));
  CO_TRY(auto lease, etcd::DecodeTimeToLive(answer));
  if (lease.ttl < 0) co_return Fail(ErrorCode::kNotFound, "lease {} does not exist", id);
  std::ranges::sort(lease.keys);
  co_return Lease{.id = id,
                  .ttl = std::chrono::seconds(lease.granted),
                  .remaining = std::chrono::seconds(lease.ttl),
                  .keys = std::move(lease.keys)};
}

Task<Result<void>> OpenStore::RevokeLease(LeaseId id, Call call) {
  CO_TRY(auto answer, co_await Ask(method::kLeaseRevoke, etcd::EncodeLeaseId(id),
                                   Repeat::kWhenUnsent, std::move(call)));
  CO_TRY(auto revision, etcd::DecodeHeader(answer));
  Saw(revision);
  co_return Result<void>();
}

Task<Result<Revision>> OpenStore::Probe(Revision revision, Call call) {
  CO_TRY(auto answer, co_await Ask(method::kRange, etcd::EncodeProbe(revision), Repeat::kAlways,
                                   std::move(call)));
  CO_TRY(auto now, etcd::DecodeHeader(answer));
  Saw(now);
  co_return now;
}

Task<Result<Revision>> OpenStore::CurrentRevision(Call call) {
  if (!met_.load(std::memory_order_relaxed)) {
    CO_TRY_VOID(co_await LearnCompacted(call));
    met_ = true;
  }
  co_return co_await Probe(0, std::move(call));
}

Task<Result<void>> OpenStore::LearnCompacted(Call call) {
  CO_TRY(Revision readable, co_await Probe(0, call));
  Revision gone = std::max<Revision>(revisions_->compacted, kFirstRevision) - 1;
  // Nothing below `readable` is known to be readable, nothing above `gone` to be gone.
  while (readable - gone > 1) {
    const Revision middle = gone + (readable - gone) / 2;
    auto probed = co_await Probe(middle, call);
    if (probed) {
      readable = middle;
    } else if (probed.error().code == ErrorCode::kExpired) {
      gone = middle;
    } else {
      co_return std::unexpected(probed.error());
    }
  }
  if (readable > kFirstRevision) Revisions::Raise(revisions_->compacted, readable);
  co_return Result<void>();
}

Task<Result<void>> OpenStore::Health(Call call) {
  CO_TRY(auto revision, co_await Probe(0, std::move(call)));
  (void)revision;
  co_return Result<void>();
}

Task<Result<EtcdServerInfo>> OpenStore::Describe(Call call) {
  CO_TRY(auto answer, co_await Ask(method::kStatus, "", Repeat::kAlways, std::move(call)));
  CO_TRY(auto status, etcd::DecodeStatus(answer));
  Saw(status.revision);
  co_return EtcdServerInfo{.url = endpoints_->at(endpoints_->current()).origin(),
                           .version = std::move(status.version),
                           .database_bytes = status.database_bytes};
}

// Order: no new calls; watches; calls under way, which have their own time limit.
Task<void> OpenStore::Close() {
  std::vector<std::weak_ptr<WatchSession>> watches;
  {
    std::lock_guard lock(watches_mutex_);
    KEELSON_CHECK(!closed_.exchange(true));
    watches = std::exchange(watches_, {});
  }
  for (const auto& weak : watches) {
    if (auto watch = weak.lock()) watch->End(FailClosed().error());
  }
  co_await calls_.Close();
  deadlines_->Stop();
}

}  // namespace

Result<std::unique_ptr<EtcdStore>> OpenEtcdStore(EtcdStoreOptions options, net::IoPool& pool,
                                                 Clock& clock) {
  TRY(auto endpoints, Endpoints::Create(std::move(options), pool, clock));
  return std::make_unique<OpenStore>(std::move(endpoints), clock);
}

}  // namespace keelson::kv
