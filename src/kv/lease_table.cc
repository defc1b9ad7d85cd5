#include "kv/lease_table.h"

#include <algorithm>

#include "base/ids.h"

namespace keelson::kv {
namespace {

constexpr Duration kLongest = std::chrono::seconds(9'000'000'000);

std::unexpected<Error> FailNoLease(LeaseId id) {
  return Fail(ErrorCode::kNotFound, "lease {} does not exist", id);
}

}  // namespace

LeaseTable::LeaseTable(Clock& clock, std::function<void()> on_due)
    : clock_(clock), on_due_(std::move(on_due)) {}

Result<Duration> LeaseTable::CheckTtl(Duration ttl) {
  if (ttl <= Duration::zero() || ttl > kLongest) {
    return Fail(ErrorCode::kInvalid, "a lease of {} ns", ttl.count());
  }
  return std::chrono::ceil<std::chrono::seconds>(ttl);
}

LeaseId LeaseTable::NewId() const {
  for (;;) {
    auto id = static_cast<LeaseId>(RandomUint64() >> 1);
    if (id != 0 && !Has(id)) return id;
  }
}

Result<Lease> LeaseTable::Grant(LeaseId id, Duration ttl) {
  std::lock_guard lock(mutex_);
  auto [place, fresh] = leases_.try_emplace(id, Entry{ttl, {}});
  if (!fresh) return Fail(ErrorCode::kAlreadyExists, "lease {} exists already", id);
  SetEnd(id, place->second, clock_.Now() + ttl);
  return Describe(id, place->second);
}

Result<Lease> LeaseTable::KeepAlive(LeaseId id) {
  std::lock_guard lock(mutex_);
  auto found = leases_.find(id);
  if (found == leases_.end()) return FailNoLease(id);
  SetEnd(id, found->second, clock_.Now() + found->second.ttl);
  return Describe(id, found->second);
}

Result<Lease> LeaseTable::Get(LeaseId id) const {
  std::lock_guard lock(mutex_);
  auto found = leases_.find(id);
  if (found == leases_.end()) return FailNoLease(id);
  return Describe(id, found->second);
}

bool LeaseTable::Has(LeaseId id) const {
  std::lock_guard lock(mutex_);
  return leases_.contains(id);
}

void LeaseTable::Remove(LeaseId id) {
  std::lock_guard lock(mutex_);
  auto found = leases_.find(id);
  if (found == leases_.end()) return;
  by_end_.erase({found->second.ends, id});
  leases_.erase(found);
}

std::vector<LeaseId> LeaseTable::TakeExpired(Duration retry) {
  std::lock_guard lock(mutex_);
  std::vector<LeaseId> expired;
  TimePoint now = clock_.Now();
  for (const auto& [ends, id] : by_end_) {
    if (ends > now) break;
    expired.push_back(id);
  }
  for (LeaseId id : expired) SetEnd(id, leases_.at(id), now + retry);
  Arm();
  return expired;
}

void LeaseTable::Stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  if (timer_) clock_.Cancel(*timer_);
  timer_.reset();
  told_.wait(lock, [&] { return !telling_; });
}

void LeaseTable::SetEnd(LeaseId id, Entry& entry, TimePoint ends) {
  by_end_.erase({entry.ends, id});
  entry.ends = ends;
  by_end_.emplace(ends, id);
  Arm();
}

void LeaseTable::Arm() {
  if (stopped_ || by_end_.empty()) return;
  TimePoint at = by_end_.begin()->first;
  if (timer_ && timer_at_ <= at) return;  // it finds nothing due and arms the next
  if (timer_) clock_.Cancel(*timer_);
  timer_at_ = at;
  timer_ = clock_.Schedule(at, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Due();
  });
}

void LeaseTable::Due() {
  {
    std::lock_guard lock(mutex_);
    timer_.reset();
    if (stopped_ || by_end_.empty()) return;
    if (by_end_.begin()->first > clock_.Now()) return Arm();
    telling_ = true;
  }
  on_due_();
  std::lock_guard lock(mutex_);
  telling_ = false;
  told_.notify_all();
}

Lease LeaseTable::Describe(LeaseId id, const Entry& entry) const {
  return {.id = id,
          .ttl = entry.ttl,
          .remaining = std::max(Duration::zero(), entry.ends - clock_.Now())};
}

}  // namespace keelson::kv
