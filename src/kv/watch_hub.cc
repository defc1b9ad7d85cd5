#include "kv/watch_hub.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace keelson::kv {
namespace {

constexpr Revision kUnlimited = std::numeric_limits<Revision>::max();
constexpr size_t kChunkBytes = size_t{1} << 20;

size_t Cost(const Event& event) {
  return sizeof(Event) + event.kv.key.size() + event.kv.value.size() + event.previous.value.size();
}

}  // namespace

void Wakes::Run() {
  for (auto& waiter : std::exchange(waiters_, {})) waiter->Set({});
}

// Guarded by the hub's mutex but for the atomics and the constants.
struct WatchHub::State {
  explicit State(WatchRequest r) : request(std::move(r)), next(request.start) {}

  const WatchRequest request;
  bool live = false;
  bool touched = false;   // has got events from the publication under way
  Revision next;          // the first revision that is neither returned nor queued
  Revision returned = 0;  // the revision of the last batch
  std::vector<Event> queue;
  size_t queue_bytes = 0;
  bool progress_wanted = false;
  std::optional<Error> error;
  std::shared_ptr<Reply<void>> waiter;
  // Delivered() is the lesser of this and what the hub has published. Lowered before an event is
  // published and raised after it was taken, so reading the two needs no lock.
  std::atomic<Revision> ceiling{0};
  std::atomic<Revision> compacted{0};
};

class WatchHub::Handle final : public Watch {
 public:
  Handle(std::shared_ptr<WatchHub> hub, std::shared_ptr<State> watch)
      : hub_(std::move(hub)), watch_(std::move(watch)) {}
  ~Handle() override { Cancel(); }

  Task<Result<WatchBatch>> Next(Call call) override {
    return WatchHub::Next(hub_, watch_, std::move(call));
  }

  void RequestProgress() override {
    Wakes wakes;
    std::lock_guard lock(hub_->mutex_);
    watch_->progress_wanted = true;
    if (watch_->waiter) wakes.Add(std::exchange(watch_->waiter, nullptr));
  }

  Revision Delivered() const override {
    Revision published = hub_->published();
    return std::min(published, watch_->ceiling.load(std::memory_order_acquire));
  }

  void Cancel() override {
    Wakes wakes;
    std::lock_guard lock(hub_->mutex_);
    hub_->End(watch_, Error{ErrorCode::kCancelled, "the watch was cancelled"}, wakes);
    std::erase(hub_->watches_, watch_);
  }

  Revision CompactedRevision() const override { return watch_->compacted.load(); }

 private:
  const std::shared_ptr<WatchHub> hub_;
  const std::shared_ptr<State> watch_;
};

// --- the index of live watches ---

void WatchHub::Index::Insert(State* watch) {
  auto place = std::upper_bound(entries_.begin(), entries_.end(), watch->request.range.start,
                                [](const std::string& start, const Entry& e) {
                                  return start < e.watch->request.range.start;
                                });
  size_t at = place - entries_.begin();
  entries_.insert(place, Entry{watch, nullptr});
  Rebuild(at);
}

void WatchHub::Index::Erase(State* watch) {
  auto found = std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& entry) { return entry.watch == watch; });
  if (found == entries_.end()) return;
  size_t at = found - entries_.begin();
  entries_.erase(found);
  Rebuild(at);
}

void WatchHub::Index::Rebuild(size_t from) {
  for (size_t i = from; i < entries_.size(); ++i) {
    const std::string& end = entries_[i].watch->request.range.end;
    const std::string* own = end.empty() ? nullptr : &end;
    const std::string* before = i == 0 ? own : entries_[i - 1].furthest;
    bool before_is_further = before == nullptr || (own != nullptr && *before > *own);
    entries_[i].furthest = before_is_further ? before : own;
  }
}

template <typename Visit>
void WatchHub::Index::ForEach(std::string_view key, Visit&& visit) const {
  auto past = std::upper_bound(
      entries_.begin(), entries_.end(), key,
      [](std::string_view k, const Entry& entry) { return k < entry.watch->request.range.start; });
  while (past != entries_.begin()) {
    --past;
    if (past->furthest != nullptr && *past->furthest <= key) return;
    if (past->watch->request.range.Contains(key)) visit(*past->watch);
  }
}

// --- publishing ---

WatchHub::WatchHub(Revision published, EventLog* log, Executor* reader,
                   std::shared_ptr<Deadlines> deadlines)
    : log_(log), reader_(reader), deadlines_(std::move(deadlines)), published_(published) {}

WatchHub::~WatchHub() = default;

Result<std::unique_ptr<Watch>> WatchHub::Start(WatchRequest request) {
  if (!request.range.end.empty() && request.range.end <= request.range.start) {
    return Fail(ErrorCode::kInvalid, "the range to watch is empty");
  }
  if (request.start < 0) return Fail(ErrorCode::kInvalid, "revision {} is negative", request.start);
  auto watch = std::make_shared<State>(std::move(request));
  std::lock_guard lock(mutex_);
  if (closed_) return FailClosed();
  Revision published = published_.load(std::memory_order_relaxed);
  if (watch->next == 0) watch->next = published + 1;
  watch->live = watch->next > published;
  watch->ceiling = watch->live ? kUnlimited : watch->next - 1;
  if (watch->live) live_.Insert(watch.get());
  watches_.push_back(watch);
  return std::make_unique<Handle>(shared_from_this(), std::move(watch));
}

void WatchHub::FallBehind(State& watch, Revision next) {
  watch.queue.clear();
  watch.queue_bytes = 0;
  watch.next = next;
  watch.ceiling.store(next - 1, std::memory_order_release);
  watch.live = false;
}

void WatchHub::Deliver(State& watch, const Event& event) {
  if (!watch.live || event.kv.mod_revision < watch.next) return;
  if (watch.queue.empty()) {
    watch.ceiling.store(event.kv.mod_revision - 1, std::memory_order_release);
  } else if (watch.queue_bytes + Cost(event) > watch.request.buffer_bytes) {
    FallBehind(watch, watch.queue.front().kv.mod_revision);
  }
  if (!watch.touched) {
    watch.touched = true;
    touched_.push_back(&watch);
  }
  if (!watch.live) return;
  watch.queue_bytes += Cost(event);
  watch.queue.push_back(event);
  if (!watch.request.want_previous) watch.queue.back().previous = {};
}

Wakes WatchHub::Publish(std::span<const Event> events, Revision through) {
  Wakes wakes;
  std::lock_guard lock(mutex_);
  for (const Event& event : events) {
    live_.ForEach(event.kv.key.view(), [&](State& watch) { Deliver(watch, event); });
  }
  published_.store(through, std::memory_order_release);
  for (State* watch : touched_) {
    watch->touched = false;
    if (watch->live) {
      watch->next = std::max(watch->next, through + 1);
    } else {
      live_.Erase(watch);
    }
    if (watch->waiter) wakes.Add(std::exchange(watch->waiter, nullptr));
  }
  touched_.clear();
  return wakes;
}

void WatchHub::End(const std::shared_ptr<State>& watch, Error error, Wakes& wakes) {
  if (watch->error) return;
  if (watch->live) live_.Erase(watch.get());
  FallBehind(*watch, watch->queue.empty() ? watch->next : watch->queue.front().kv.mod_revision);
  watch->error = std::move(error);
  if (watch->waiter) wakes.Add(std::exchange(watch->waiter, nullptr));
}

void WatchHub::Close() {
  Wakes wakes;
  std::unique_lock lock(mutex_);
  closed_ = true;
  for (auto& watch : std::exchange(watches_, {})) End(watch, FailClosed().error(), wakes);
  reads_done_.wait(lock, [&] { return reads_ == 0; });
}

// --- the watch's side ---

WatchBatch WatchHub::TakeQueue(State& watch) {
  // The log may have shown this watch a commit that is about to be published.
  watch.returned = std::max(watch.returned, published_.load(std::memory_order_relaxed));
  WatchBatch batch{std::exchange(watch.queue, {}), watch.returned};
  watch.queue_bytes = 0;
  watch.progress_wanted = false;
  watch.ceiling.store(kUnlimited, std::memory_order_release);
  return batch;
}

Task<Result<WatchBatch>> WatchHub::Next(std::shared_ptr<WatchHub> hub, std::shared_ptr<State> watch,
                                        Call call) {
  for (;;) {
    CO_TRY_VOID(CheckCall(call, *hub->deadlines_));
    std::shared_ptr<Reply<void>> waiter;
    {
      std::lock_guard lock(hub->mutex_);
      if (watch->error) co_return std::unexpected(*watch->error);
      if (watch->live) {
        if (!watch->queue.empty() || watch->progress_wanted) co_return hub->TakeQueue(*watch);
        waiter = watch->waiter = Reply<void>::Create();
      }
    }
    if (waiter) {
      CO_TRY_VOID(co_await AwaitReply<void>(std::move(waiter), call, hub->deadlines_));
      continue;
    }
    std::optional<WatchBatch> batch;
    CO_TRY_VOID(co_await CatchUp(hub, watch, &batch));
    if (batch) co_return *std::move(batch);
  }
}

// Reads one chunk of the log for a watch that is behind, and turns it live when that was the last.
Task<Result<void>> WatchHub::CatchUp(std::shared_ptr<WatchHub> hub, std::shared_ptr<State> watch,
                                     std::optional<WatchBatch>* batch) {
  Revision from;
  {
    std::lock_guard lock(hub->mutex_);
    from = watch->next;
  }
  auto chunk = co_await ReadOnReader(hub, watch, from);
  Wakes wakes;
  std::lock_guard lock(hub->mutex_);
  if (watch->error) co_return std::unexpected(*watch->error);
  if (!chunk) {
    if (chunk.error().code == ErrorCode::kExpired) {
      watch->compacted = hub->log_->CompactedRevision();
    }
    hub->End(watch, chunk.error(), wakes);
    co_return std::unexpected(chunk.error());
  }
  watch->next = chunk->through + 1;
  Revision published = hub->published_.load(std::memory_order_relaxed);
  if (watch->next > published) {
    watch->live = true;
    hub->live_.Insert(watch.get());
  }
  watch->ceiling.store(watch->live ? kUnlimited : chunk->through, std::memory_order_release);
  if (chunk->events.empty()) co_return Result<void>();
  watch->returned = chunk->through;
  batch->emplace(WatchBatch{std::move(chunk->events), chunk->through});
  co_return Result<void>();
}

Task<Result<EventLog::Chunk>> WatchHub::ReadOnReader(std::shared_ptr<WatchHub> hub,
                                                     std::shared_ptr<State> watch, Revision from) {
  if (hub->reader_ == nullptr) co_return hub->ReadLog(*watch, from);
  // The reader is alive as long as a read is announced.
  if (!hub->BeginRead()) co_return FailClosed();
  auto reply = Reply<EventLog::Chunk>::Create();
  hub->reader_->Post([hub, watch, from, reply] {
    auto chunk = hub->ReadLog(*watch, from);
    hub->EndRead();
    reply->Set(std::move(chunk));
  });
  co_return co_await Reply<EventLog::Chunk>::Wait(reply);
}

Result<EventLog::Chunk> WatchHub::ReadLog(const State& watch, Revision from) {
  if (!BeginRead()) return FailClosed();
  size_t bytes = std::min(kChunkBytes, watch.request.buffer_bytes);
  auto chunk = log_->ReadLog(watch.request.range, from, bytes);
  EndRead();
  if (chunk && !watch.request.want_previous) {
    for (Event& event : chunk->events) event.previous = {};
  }
  return chunk;
}

bool WatchHub::BeginRead() {
  std::lock_guard lock(mutex_);
  if (closed_) return false;
  ++reads_;
  return true;
}

void WatchHub::EndRead() {
  std::lock_guard lock(mutex_);
  if (--reads_ == 0) reads_done_.notify_all();
}

}  // namespace keelson::kv
