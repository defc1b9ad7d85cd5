#include "net/listener.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/completion.h"
#include "base/log.h"

namespace keelson::net {
namespace {

constexpr int kAcceptsPerEvent = 64;
constexpr Duration kFirstRetry = std::chrono::milliseconds(32);
constexpr Duration kLastRetry = std::chrono::seconds(1);
// Between ignoring SYNs and closing: handshakes under way may finish.
constexpr Duration kHandshakeGrace = std::chrono::milliseconds(100);

void SetOption(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof(value));
}

void PrepareAccepted(int fd, int family, Duration keepalive) {
  if (family == AF_UNIX) return;
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (keepalive <= Duration::zero()) return;
  auto seconds = static_cast<int>(std::chrono::ceil<std::chrono::seconds>(keepalive).count());
  SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::min(seconds, 15));
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::Bind(IoPool& pool, const Address& address,
                                                 const ListenerOptions& options) {
  const auto doing = fmt::format("listening on {}", address.ToString());
  int fd = socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return FailErrno(errno, doing);
  std::unique_ptr<Listener> self(new Listener(pool, fd));
  self->options_ = options;
  if (address.family() == AF_UNIX) {
    // A file left by a process that is gone would refuse us forever.
    self->unlink_path_ = address.ToString();
    unlink(self->unlink_path_.c_str());
  } else {
    if (options.reuse_address) SetOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (options.reuse_port) SetOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    if (address.family() == AF_INET6) SetOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  }
  if (bind(fd, address.data(), address.size()) != 0) return FailErrno(errno, doing);
  if (address.family() == AF_UNIX) chmod(self->unlink_path_.c_str(), options.unix_mode);
  if (listen(fd, options.backlog) != 0) return FailErrno(errno, doing);
  self->address_ = LocalAddress(fd);
  return self;
}

Listener::~Listener() {
  KEELSON_CHECK(!watching_);
  if (fd_ < 0) return;
  close(fd_);
  if (!unlink_path_.empty()) unlink(unlink_path_.c_str());
}

void Listener::Start(OnAccept on_accept) {
  on_accept_ = std::move(on_accept);
  watching_ = true;
  home_.Post([this] {
    retry_ = std::make_unique<Timer>([this] {
      if (auto watched = home_.Watch(fd_, EPOLLIN, this); !watched) Retry();
    });
    // Level-triggered: whatever one event leaves in the queue comes back with the next wait.
    auto watched = home_.Watch(fd_, EPOLLIN, this);
    if (!watched) log::Error("accepting on {}: {}", address_.ToString(), watched.error().message);
  });
}

void Listener::OnEvents(uint32_t) { AcceptSome(kAcceptsPerEvent); }

// Returns true when the queue is empty.
bool Listener::AcceptSome(int limit) {
  for (int i = 0; i < limit; ++i) {
    int fd = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EAGAIN) return true;
      // A client that gave up in the queue is nobody's trouble; a lack of descriptors is ours.
      if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) continue;
      Retry();
      return false;
    }
    retry_delay_ = {};
    PrepareAccepted(fd, address_.family(), options_.keepalive);
    IoThread& owner = pool_.Next();
    if (&owner == &home_) {
      on_accept_(owner, fd);
    } else {
      owner.Post([this, &owner, fd] { on_accept_(owner, fd); });
    }
  }
  return false;
}

// Out of descriptors: looks away for a moment, so that the loop does not spin on a ready socket.
void Listener::Retry() {
  if (retry_->armed()) return;
  retry_delay_ = std::clamp(retry_delay_ * 2, kFirstRetry, kLastRetry);
  log::Error("http: Accept error: accept4: too many open files; retrying in {}ms",
             std::chrono::duration_cast<std::chrono::milliseconds>(retry_delay_).count());
  home_.Unwatch(fd_, this);
  home_.timers().Arm(*retry_, home_.Now() + retry_delay_);
}

// From here on no new connection reaches the queue: a Unix socket loses its name; a TCP socket
// drops SYNs by a filter, so the final ACKs of handshakes under way still arrive.
void Listener::RefuseNew() {
  if (!unlink_path_.empty()) {
    unlink(std::exchange(unlink_path_, {}).c_str());
    return;
  }
  constexpr uint8_t kFlagsOffset = 13;  // in the TCP header
  constexpr uint8_t kSynAck = 0x12;
  constexpr uint8_t kSyn = 0x02;
  sock_filter program[] = {
      {BPF_LD | BPF_B | BPF_ABS, 0, 0, kFlagsOffset},
      {BPF_ALU | BPF_AND | BPF_K, 0, 0, kSynAck},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, kSyn},
      {BPF_RET | BPF_K, 0, 0, 0},           // a SYN: dropped
      {BPF_RET | BPF_K, 0, 0, 0xffffffff},  // anything else: kept whole
  };
  sock_fprog filter{.len = std::size(program), .filter = program};
  setsockopt(fd_, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
}

void Listener::DrainQueue() {
  while (!AcceptSome(kAcceptsPerEvent) && !retry_->armed()) {
  }
}

Task<void> Listener::Stop() {
  if (!watching_) co_return;
  auto closed = Completion<bool>::Create();
  home_.Post([this, closed] {
    RefuseNew();
    DrainQueue();
    closing_ = std::make_unique<Timer>([this, closed] {
      DrainQueue();
      home_.timers().Disarm(*retry_);
      home_.Unwatch(fd_, this);
      close(std::exchange(fd_, -1));
      watching_ = false;
      // Sockets handed to other threads are with them once they have run what was posted.
      auto left = std::make_shared<std::atomic<size_t>>(pool_.size());
      for (size_t i = 0; i < pool_.size(); ++i) {
        pool_.at(i).Post([left, closed] {
          if (left->fetch_sub(1) == 1) closed->Set(true);
        });
      }
    });
    home_.timers().Arm(*closing_, home_.Now() + kHandshakeGrace);
  });
  co_await Completion<bool>::Wait(closed);
}

}  // namespace keelson::net
