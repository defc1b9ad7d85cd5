#include "net/io_thread.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace keelson::net {

struct IoThread::Batch {
  std::array<epoll_event, 256> events;
  int next = 0;
  int count = 0;
};

TurnEnd::~TurnEnd() {
  if (queued_on_ == nullptr) return;
  // Whichever list holds it, it holds it at that position.
  auto forget = [this](std::vector<TurnEnd*>& list) {
    if (position_ < list.size() && list[position_] == this) list[position_] = nullptr;
  };
  forget(queued_on_->turn_ends_);
  forget(queued_on_->running_turn_ends_);
}

IoThread::IoThread(std::string name)
    : name_(std::move(name)),
      now_(std::chrono::steady_clock::now()),
      timers_(now_),
      batch_(std::make_unique<Batch>()) {}

IoThread::~IoThread() {
  Stop();
  if (epoll_fd_ >= 0) close(epoll_fd_);
  if (wake_fd_ >= 0) close(wake_fd_);
}

Result<void> IoThread::Start() {
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_fd_ < 0) return FailErrno(errno, "creating an epoll instance");
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd_ < 0) return FailErrno(errno, "creating an eventfd");
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, wake_fd_, &event) != 0) {
    return FailErrno(errno, "watching an eventfd");
  }
  scratch_.read = std::make_unique_for_overwrite<char[]>(Scratch::kReadSize);
  scratch_.plain = std::make_unique_for_overwrite<char[]>(Scratch::kRecordSize);
  scratch_.record = std::make_unique_for_overwrite<char[]>(Scratch::kRecordSize);
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), name_.substr(0, 15).c_str());
  return {};
}

void IoThread::Stop() {
  if (!thread_.joinable()) return;
  Post([this] { stopping_ = true; });
  thread_.join();
}

void IoThread::Post(Function function) {
  if (Executor::Current() == this) {
    local_.push_back(std::move(function));
    return;
  }
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(function));
    has_posted_.store(true, std::memory_order_relaxed);
  }
  // Whoever finds the queue empty wakes the loop; the loop takes the whole queue at once.
  if (first && wake_fd_ >= 0) {
    uint64_t one = 1;
    [[maybe_unused]] auto written = write(wake_fd_, &one, sizeof(one));
  }
}

Result<void> IoThread::Watch(int fd, uint32_t events, FdHandler* handler) {
  epoll_event event{.events = events, .data = {.ptr = handler}};
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0) {
    return FailErrno(errno, "watching a socket");
  }
  return {};
}

void IoThread::Unwatch(int fd, FdHandler* handler) {
  epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
  // Events already taken from the kernel must not reach a handler that may be gone.
  for (int i = batch_->next; i < batch_->count; ++i) {
    if (batch_->events[i].data.ptr == handler) batch_->events[i].data.ptr = nullptr;
  }
}

void IoThread::AtTurnEnd(TurnEnd& item) {
  if (item.queued_on_ != nullptr) return;
  item.queued_on_ = this;
  item.position_ = turn_ends_.size();
  turn_ends_.push_back(&item);
}

void IoThread::Run() {
  Scope scope(this);
  while (!stopping_) {
    int count = epoll_wait(epoll_fd_, batch_->events.data(),
                           static_cast<int>(batch_->events.size()), WaitMillis());
    now_ = std::chrono::steady_clock::now();
    Dispatch(std::max(count, 0));
    timers_.Advance(now_);
    RunPosted();
    RunTurnEnds();
  }
  RunPosted();  // what was posted beside Stop, and frees what it holds
}

int IoThread::WaitMillis() const {
  if (!local_.empty() || !turn_ends_.empty()) return 0;
  if (has_posted_.load(std::memory_order_relaxed)) return 0;
  auto next = timers_.Next();
  if (!next) return -1;
  auto wait = std::chrono::ceil<std::chrono::milliseconds>(*next - now_).count();
  return static_cast<int>(std::clamp<int64_t>(wait, 0, 60'000));
}

void IoThread::Dispatch(int count) {
  batch_->count = count;
  for (batch_->next = 0; batch_->next < batch_->count;) {
    const epoll_event& event = batch_->events[batch_->next++];
    // The eventfd has no handler; edge-triggered, it need not be read.
    if (event.data.ptr != nullptr) static_cast<FdHandler*>(event.data.ptr)->OnEvents(event.events);
  }
  batch_->count = 0;
}

void IoThread::RunPosted() {
  auto run = [this] {
    for (auto& function : running_) {
      auto once = std::move(function);
      once();
    }
    running_.clear();
  };
  if (has_posted_.load(std::memory_order_relaxed)) {
    {
      std::lock_guard lock(mutex_);
      running_.swap(posted_);
      has_posted_.store(false, std::memory_order_relaxed);
    }
    run();
  }
  if (!local_.empty()) {
    running_.swap(local_);
    run();
  }
}

void IoThread::RunTurnEnds() {
  if (turn_ends_.empty()) return;
  running_turn_ends_.swap(turn_ends_);
  for (size_t i = 0; i < running_turn_ends_.size(); ++i) {
    TurnEnd* item = running_turn_ends_[i];
    if (item == nullptr) continue;
    running_turn_ends_[i] = nullptr;
    item->queued_on_ = nullptr;
    item->OnTurnEnd();
  }
  running_turn_ends_.clear();
}

Result<std::unique_ptr<IoPool>> IoPool::Create(int threads) {
  auto pool = std::make_unique<IoPool>();
  if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (int i = 0; i < threads; ++i) {
    pool->threads_.push_back(std::make_unique<IoThread>(fmt::format("io{}", i)));
    TRY_VOID(pool->threads_.back()->Start());
  }
  return pool;
}

void IoPool::Stop() {
  for (auto& thread : threads_) thread->Stop();
}

}  // namespace keelson::net
