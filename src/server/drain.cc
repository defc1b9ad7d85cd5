#include "server/drain.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <utility>

#include "base/completion.h"

namespace keelson::server {

bool RequestGroup::Enter() {
  if ((state_.fetch_add(2, std::memory_order_acq_rel) & kClosed) == 0) return true;
  Leave();
  return false;
}

void RequestGroup::Leave() {
  int64_t left = state_.fetch_sub(2, std::memory_order_seq_cst) - 2;
  if ((left >> 1) == 0 && waiting_.load(std::memory_order_seq_cst)) Notify();
}

void RequestGroup::Close() { state_.fetch_or(kClosed, std::memory_order_acq_rel); }

void RequestGroup::Notify() {
  std::function<void()> on_empty;
  {
    std::lock_guard lock(mutex_);
    on_empty = std::exchange(on_empty_, nullptr);
    waiting_.store(false, std::memory_order_release);
  }
  if (on_empty) on_empty();
}

void RequestGroup::OnEmpty(std::function<void()> function) {
  {
    std::lock_guard lock(mutex_);
    on_empty_ = std::move(function);
    waiting_.store(true, std::memory_order_seq_cst);
  }
  // The last one may have left before we were seen waiting.
  if ((state_.load(std::memory_order_seq_cst) >> 1) == 0) Notify();
}

WatchGroup::Ticket::Ticket(Ticket&& other) noexcept
    : group_(std::exchange(other.group_, nullptr)), position_(other.position_) {}

WatchGroup::Ticket& WatchGroup::Ticket::operator=(Ticket&& other) noexcept {
  std::swap(group_, other.group_);
  std::swap(position_, other.position_);
  return *this;
}

WatchGroup::Ticket::~Ticket() {
  if (group_ != nullptr) group_->Leave(position_);
}

std::stop_token WatchGroup::Ticket::stop() const {
  return group_ != nullptr ? position_->stop.get_token() : std::stop_token();
}

WatchGroup::Ticket WatchGroup::Enter() {
  Ticket ticket;
  std::lock_guard lock(mutex_);
  if (draining_) return ticket;
  waiting_.emplace_back();
  ticket.group_ = this;
  ticket.position_ = std::prev(waiting_.end());
  return ticket;
}

void WatchGroup::Leave(std::list<Running>::iterator position) {
  std::function<void()> on_empty;
  std::list<Running> gone;  // destroyed outside the lock
  {
    std::lock_guard lock(mutex_);
    gone.splice(gone.begin(), position->told ? told_ : waiting_, position);
    if (draining_ && waiting_.empty() && told_.empty())
      on_empty = std::exchange(on_empty_, nullptr);
  }
  if (on_empty) on_empty();
}

int64_t WatchGroup::active() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(waiting_.size() + told_.size());
}

bool WatchGroup::StopNext() {
  std::stop_source next(std::nostopstate);
  {
    std::lock_guard lock(mutex_);
    if (waiting_.empty()) return false;
    next = waiting_.front().stop;
    waiting_.front().told = true;
    told_.splice(told_.end(), waiting_, waiting_.begin());
  }
  next.request_stop();  // may run the watch, which may leave
  return true;
}

Task<WatchGroup::Outcome> WatchGroup::Drain(Clock& clock, Duration grace) {
  auto empty = Completion<bool>::Create();
  Outcome outcome;
  {
    std::lock_guard lock(mutex_);
    draining_ = true;
    outcome.before = static_cast<int64_t>(waiting_.size());
    on_empty_ = [empty] { empty->Set(true); };
  }
  if (outcome.before == 0) co_return outcome;
  const double rate = std::max(
      kSlowest, static_cast<double>(outcome.before) / std::chrono::duration<double>(grace).count());
  const TimePoint begin = clock.Now();
  const TimePoint end = begin + grace;
  for (int64_t told = 1; StopNext(); ++told) {
    auto due = begin + std::chrono::duration_cast<Duration>(
                           std::chrono::duration<double>(static_cast<double>(told) / rate));
    if (due > end) break;
    co_await SleepUntil(clock, due);
  }
  auto timer = clock.Schedule(end, [empty] { empty->Set(false); });
  if (active() == 0) empty->Set(true);
  co_await Completion<bool>::Wait(empty);
  clock.Cancel(timer);
  {
    std::lock_guard lock(mutex_);
    on_empty_ = nullptr;
  }
  outcome.after = active();
  co_return outcome;
}

}  // namespace keelson::server
