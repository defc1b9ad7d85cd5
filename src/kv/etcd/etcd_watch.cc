#include "kv/etcd/etcd_watch.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace keelson::kv::etcd {
namespace {

constexpr Duration kProgressEvery = std::chrono::milliseconds(100);
// A stream that is asked for progress and says nothing for so long is on a server that is stuck,
// or cut off from the others.
constexpr Duration kSilence = std::chrono::seconds(2);
constexpr Duration kFirstPause = std::chrono::milliseconds(50);
constexpr Duration kLongestPause = std::chrono::seconds(2);
constexpr Duration kStatusTimeout = std::chrono::seconds(2);

size_t Cost(const Event& event) {
  return sizeof(Event) + event.kv.key.size() + event.kv.value.size() + event.previous.value.size();
}

}  // namespace

WatchSession::WatchSession(WatchRequest request, Endpoints& endpoints, Clock& clock,
                           std::shared_ptr<Revisions> revisions,
                           std::shared_ptr<Deadlines> deadlines)
    : request_(std::move(request)),
      endpoints_(endpoints),
      clock_(clock),
      thread_(endpoints.Thread()),
      revisions_(std::move(revisions)),
      deadlines_(std::move(deadlines)),
      progress_timer_([this] { AskForProgress(); }),
      through_((request_.start != 0 ? request_.start : revisions_->known + 1) - 1) {
  through_ = std::max(through_, kFirstRevision);  // nothing changed then
  UpdateDelivered();
}

// --- receiving

Task<void> WatchSession::Run(std::shared_ptr<WatchSession> self) {
  Duration pause = kFirstPause;
  while (!self->over()) {
    const size_t server = self->endpoints_.current();
    auto ended = co_await Follow(self);
    self->thread_.timers().Disarm(self->progress_timer_);
    if (self->over()) break;
    if (ended.compacted) {
      Revisions::Raise(self->revisions_->compacted, self->compacted_);
      self->End(ended.error);
      break;
    }
    self->endpoints_.MoveOn(server);
    if (ended.was_live) pause = kFirstPause;
    log::InfoS("watching etcd again", {{"err", ended.error.message}});
    co_await SleepFor(self->clock_, pause, self->stop_.get_token());
    pause = std::min(2 * pause, kLongestPause);
  }
}

bool WatchSession::over() const {
  std::lock_guard lock(mutex_);
  return error_.has_value();
}

Task<WatchSession::Ended> WatchSession::Follow(std::shared_ptr<WatchSession> self) {
  auto& attempt = self->attempt_.emplace();
  std::stop_callback forward(self->stop_.get_token(), [attempt] { auto(attempt).request_stop(); });
  auto& channel = self->endpoints_.at(self->endpoints_.current());
  auto asked = co_await channel.Call(
      std::string(method::kStatus), Slice(),
      {.timeout = kStatusTimeout, .stop = attempt.get_token(), .metadata = {}});
  if (!asked) co_return Ended{ToError(asked.error())};
  auto status = DecodeStatus(*asked);
  if (!status) co_return Ended{status.error()};
  Revisions::Raise(self->revisions_->known, status->revision);

  auto opened =
      co_await channel.Open(std::string(method::kWatch), {.timeout = {},
                                                          .stop = attempt.get_token(),
                                                          .max_message = kMaxMessage,
                                                          .metadata = {{"hasleader", "true"}}});
  if (!opened) co_return Ended{ToError(opened.error())};
  auto& stream = **opened;
  const bool in_order = TellsProgressInOrder(status->version);
  Revision start = 0;
  {
    std::lock_guard lock(self->mutex_);
    start = self->through_ + 1;
  }
  // etcd still serves a watch from the very revision it was compacted at, without the deletions
  // of that revision. One earlier is refused as it must be; what comes too much is dropped.
  if (start <= status->revision && start > 1) --start;
  stream.Queue(EncodeWatchCreate(in_order ? self->request_.range : KeyRange::All(), start,
                                 self->request_.want_previous));
  self->stream_ = &stream;
  self->answers_progress_ = in_order;
  self->last_heard_ = self->thread_.Now();
  self->AskForProgress();

  Ended ended;
  for (;;) {
    co_await AwaitRoom(self);
    auto message = co_await stream.Read();
    if (!message || !*message) {
      ended.error = message ? Error{ErrorCode::kUnavailable, "etcd ended the watch"}
                            : ToError(message.error());
      break;
    }
    self->last_heard_ = self->thread_.Now();
    auto response = DecodeWatch(**message);
    if (!response) {
      ended.error = response.error();
      break;
    }
    ended.was_live = true;
    if (auto over = self->Take(*std::move(response), !in_order)) {
      ended = *std::move(over);
      break;
    }
  }
  self->stream_ = nullptr;
  co_return ended;
}

std::optional<WatchSession::Ended> WatchSession::Take(WatchResponse response, bool all_keys) {
  Revisions::Raise(revisions_->known, response.revision);
  if (response.cancelled) {
    if (response.compacted == 0) {
      return Ended{.error = {ErrorCode::kUnavailable, "etcd: " + response.reason}};
    }
    compacted_ = response.compacted;
    return Ended{
        .error = {ErrorCode::kExpired,
                  fmt::format("the watch's revision was compacted, up to {}", response.compacted)},
        .compacted = true};
  }
  if (response.created) return std::nullopt;
  std::shared_ptr<Reply<void>> waiter;
  {
    std::lock_guard lock(mutex_);
    if (error_) return std::nullopt;
    const Revision before = through_;
    for (Event& event : response.events) {
      const Revision revision = event.kv.mod_revision;
      if (revision <= before) continue;  // seen on an earlier stream
      through_ = std::max(through_, revision);
      if (all_keys && !request_.range.Contains(event.kv.key.view())) continue;
      queue_bytes_ += Cost(event);
      queue_.push_back(std::move(event));
    }
    if (response.events.empty() && !all_keys) through_ = std::max(through_, response.revision);
    UpdateDelivered();
    if (!queue_.empty() || ProgressDue()) waiter = std::exchange(waiter_, nullptr);
  }
  if (waiter) waiter->Set({});
  return std::nullopt;
}

Task<void> WatchSession::AwaitRoom(std::shared_ptr<WatchSession> self) {
  std::shared_ptr<Reply<void>> room;
  {
    std::lock_guard lock(self->mutex_);
    if (self->error_ || self->queue_bytes_ <= self->request_.buffer_bytes) co_return;
    room = self->room_ = Reply<void>::Create();
  }
  (void)co_await Reply<void>::Wait(room);
  self->last_heard_ = self->thread_.Now();  // it was us who did not listen
}

void WatchSession::AskForProgress() {
  if (stream_ == nullptr) return;
  {
    std::lock_guard lock(mutex_);
    if (error_ || target_ == 0 || Reached() >= target_ || room_) return;
  }
  if (thread_.Now() - last_heard_ > kSilence) {
    attempt_->request_stop();
    return;
  }
  if (answers_progress_) stream_->Queue(EncodeProgressRequest());
  thread_.timers().Arm(progress_timer_, thread_.Now() + kProgressEvery);
}

// --- the watch's side

// A watch may start beyond what exists; nobody is told of revisions that do not.
Revision WatchSession::Reached() const { return std::min(through_, revisions_->known.load()); }

void WatchSession::UpdateDelivered() {
  delivered_ = queue_.empty() ? through_ : queue_.front().kv.mod_revision - 1;
}

Revision WatchSession::Delivered() const {
  return std::min(delivered_.load(std::memory_order_acquire), revisions_->known.load());
}

WatchBatch WatchSession::TakeQueue() {
  WatchBatch batch{std::exchange(queue_, {}), Reached()};
  queue_bytes_ = 0;
  if (ProgressDue()) target_ = 0;
  UpdateDelivered();
  return batch;
}

Task<Result<WatchBatch>> WatchSession::Next(std::shared_ptr<WatchSession> self, Call call) {
  for (;;) {
    CO_TRY_VOID(CheckCall(call, *self->deadlines_));
    std::shared_ptr<Reply<void>> waiter, room;
    std::optional<WatchBatch> batch;
    {
      std::lock_guard lock(self->mutex_);
      if (!self->queue_.empty() || (self->ProgressDue() && !self->error_)) {
        batch = self->TakeQueue();
        room = std::exchange(self->room_, nullptr);
      } else if (self->error_) {
        co_return std::unexpected(*self->error_);
      } else {
        waiter = self->waiter_ = Reply<void>::Create();
      }
    }
    if (room) room->Set({});
    if (batch) co_return *std::move(batch);
    CO_TRY_VOID(co_await AwaitReply<void>(std::move(waiter), call, self->deadlines_));
  }
}

void WatchSession::RequestProgress() {
  std::shared_ptr<Reply<void>> waiter;
  {
    std::lock_guard lock(mutex_);
    if (error_) return;
    target_ = std::max<Revision>(revisions_->known, 1);
    if (ProgressDue()) waiter = std::exchange(waiter_, nullptr);
  }
  if (waiter) {
    waiter->Set({});
    return;
  }
  thread_.Post([self = shared_from_this()] {
    self->last_heard_ = self->thread_.Now();
    self->AskForProgress();
  });
}

void WatchSession::End(Error why) {
  std::shared_ptr<Reply<void>> waiter, room;
  {
    std::lock_guard lock(mutex_);
    if (error_) return;
    if (why.code != ErrorCode::kExpired) {  // what came before that is still good
      queue_.clear();
      queue_bytes_ = 0;
    }
    error_ = std::move(why);
    waiter = std::exchange(waiter_, nullptr);
    room = std::exchange(room_, nullptr);
  }
  stop_.request_stop();
  if (waiter) waiter->Set({});
  if (room) room->Set({});
}

}  // namespace keelson::kv::etcd
