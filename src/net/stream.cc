#include "net/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <string>
#include <system_error>

namespace keelson::net {
namespace {

// How much one connection may read before others on the thread have their turn.
constexpr int kReadsPerEvent = 4;
constexpr int kMaxPieces = 64;
// A scratch buffer that grew past this for one burst is given back.
constexpr size_t kKeepCipher = 512 * 1024;
constexpr Duration kPause = std::chrono::seconds(1);

size_t TotalSize(std::span<const iovec> pieces) {
  size_t total = 0;
  for (const auto& piece : pieces) total += piece.iov_len;
  return total;
}

// What went wrong with a socket, in the words Go's users know: "connect: connection refused".
Error SocketError(int error_number, std::string_view call) {
  std::string reason = std::generic_category().message(error_number);
  if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(reason[0]));
  return {ErrorCode::kUnavailable, fmt::format("{}: {}", call, reason)};
}

}  // namespace

Result<std::unique_ptr<Stream>> Stream::Accepted(IoThread& thread, int fd, StreamHandler* handler,
                                                 std::shared_ptr<const TlsContext> tls) {
  std::unique_ptr<Stream> self(new Stream(thread, fd, handler));
  if (tls) {
    TRY(self->tls_, TlsSession::Accept(std::move(tls)));
  }
  return self;
}

Result<std::unique_ptr<Stream>> Stream::Connect(IoThread& thread, const Address& address,
                                                StreamHandler* handler,
                                                std::shared_ptr<const TlsContext> tls,
                                                const std::string& server_name) {
  int fd = socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return FailErrno(errno, "creating a socket");
  std::unique_ptr<Stream> self(new Stream(thread, fd, handler));
  if (tls) {
    TRY(self->tls_, TlsSession::Connect(std::move(tls), server_name));
  }
  int on = 1;
  if (address.family() != AF_UNIX) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (connect(fd, address.data(), address.size()) != 0 && errno != EINPROGRESS) {
    return std::unexpected(SocketError(errno, "connect"));
  }
  self->phase_ = Phase::kConnecting;
  return self;
}

Stream::~Stream() { Close(); }

void Stream::Begin() {
  auto watched = thread_.Watch(fd_, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, this);
  if (!watched) return Break(watched.error());
  if (phase_ == Phase::kConnecting) return;  // writable when connected
  Connected();
}

void Stream::Connected() {
  if (!tls_) {
    phase_ = Phase::kOpen;
    handler_->OnOpen();
    return;
  }
  phase_ = Phase::kHandshake;
  if (tls_->state() == TlsSession::State::kHandshake) {
    auto& cipher = thread_.scratch().cipher;
    // A server's first step finds no bytes and waits for them.
    tls_->Start(cipher);
    SendCipher();
  }
}

void Stream::Close() {
  if (fd_ < 0) return;
  thread_.Unwatch(fd_, this);
  close(fd_);
  fd_ = -1;
  pending_ = {};
}

void Stream::Reset() {
  if (fd_ < 0) return;
  linger no_linger{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &no_linger, sizeof(no_linger));
  Close();
}

void Stream::Break(Error error) {
  if (fd_ < 0) return;
  Close();
  handler_->OnError(error);
}

void Stream::OnEvents(uint32_t events) {
  if (phase_ == Phase::kConnecting) {
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return Break(SocketError(error, "connect"));
    if ((events & EPOLLOUT) == 0) return;
    Connected();
    if (closed()) return;
  }
  if ((events & EPOLLOUT) != 0 && blocked_) {
    blocked_ = false;
    FlushPending();
    if (closed()) return;
    if (!blocked_ && !shutting_ && phase_ == Phase::kOpen) handler_->OnWritable();
    if (closed()) return;
  }
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) hung_up_ = true;
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    readable_ = true;
    if (!paused_) {
      ReadSome();
    } else if ((events & EPOLLERR) != 0) {
      int error = 0;
      socklen_t size = sizeof(error);
      getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
      Break(SocketError(error, "read"));
    } else if (hung_up_) {
      handler_->OnHangup();
    }
  }
}

void Stream::OnTurnEnd() {
  if (!closed() && broken_ != 0) return Break(SocketError(broken_, "write"));
  if (!closed() && !paused_ && readable_) ReadSome();
}

void Stream::ResumeReading() {
  if (!paused_) return;
  paused_ = false;
  // The edge was reported while paused; read later, not under the caller's feet.
  if (readable_ && !closed()) thread_.AtTurnEnd(*this);
}

void Stream::ReadSome() {
  auto& scratch = thread_.scratch();
  for (int i = 0; i < kReadsPerEvent; ++i) {
    ssize_t count = recv(fd_, scratch.read.get(), IoThread::Scratch::kReadSize, 0);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) {
        readable_ = false;
        return;
      }
      return Break(SocketError(errno, "read"));
    }
    if (count == 0) {
      readable_ = false;
      if (phase_ == Phase::kHandshake) return Break({ErrorCode::kUnavailable, "EOF"});
      if (!std::exchange(ended_, true)) handler_->OnEnd();
      return;
    }
    size_t size = static_cast<size_t>(count);
    // A short read has emptied the socket, unless the peer's end is to be collected too.
    if (size < IoThread::Scratch::kReadSize && !hung_up_) readable_ = false;
    if (!Deliver({scratch.read.get(), size})) return;
    if (paused_ || !readable_) return;
  }
  thread_.AtTurnEnd(*this);  // more is waiting, but others are too
}

// Returns false when the stream was closed on the way.
bool Stream::Deliver(std::string_view bytes) {
  if (tls_) return DeliverTls(bytes);
  handler_->OnBytes(bytes);
  return !closed();
}

bool Stream::AnswerForeign(std::string_view first_bytes) {
  auto answer = handler_->OnForeignHandshake(first_bytes);
  if (answer.empty()) return false;
  [[maybe_unused]] auto sent = send(fd_, answer.data(), answer.size(), MSG_NOSIGNAL);
  shutdown(fd_, SHUT_WR);
  return true;
}

bool Stream::DeliverTls(std::string_view cipher) {
  constexpr char kHandshakeRecord = 22;
  if (std::exchange(first_bytes_, false) && cipher[0] != kHandshakeRecord &&
      AnswerForeign(cipher)) {
    Break({ErrorCode::kInvalid, "client sent an HTTP request to an HTTPS server"});
    return false;
  }
  auto& scratch = thread_.scratch();
  // What OpenSSL has to say goes out before anyone is called: the scratch buffer is shared with
  // every other stream that may be written to from there.
  auto open = [this] {
    if (phase_ != Phase::kHandshake) return true;
    phase_ = Phase::kOpen;
    handler_->OnOpen();
    return !closed();
  };
  auto state = tls_->Receive(cipher, {scratch.plain.get(), IoThread::Scratch::kRecordSize},
                             scratch.cipher, [&](std::string_view plain) {
                               SendCipher();
                               if (!open()) return false;
                               handler_->OnBytes(plain);
                               return !closed();
                             });
  if (closed()) return false;
  SendCipher();
  switch (state) {
    case TlsSession::State::kHandshake:
      return true;
    case TlsSession::State::kOpen:
      return open();
    case TlsSession::State::kEnded:
      if (!open()) return false;
      if (!std::exchange(ended_, true)) handler_->OnEnd();
      return !closed();
    case TlsSession::State::kFailed:
      Break({ErrorCode::kInvalid, fmt::format("tls: {}", tls_->error())});
      return false;
  }
  return true;
}

// Hands bytes to the kernel and returns how many it took. A failure is told at the end of the turn:
// the caller is in the middle of its work.
size_t Stream::SendSome(std::string_view bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    ssize_t count = send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      if (errno != EAGAIN) BreakLater(errno);
      blocked_ = true;
      break;
    }
  }
  return sent;
}

// Sends the scratch buffer's encrypted bytes; what the kernel does not take becomes pending.
void Stream::SendCipher() {
  auto& cipher = thread_.scratch().cipher;
  if (cipher.empty()) return;
  size_t sent = pending_.empty() ? SendSome(cipher) : 0;
  pending_.append(cipher, sent);
  cipher.clear();
  if (cipher.capacity() > kKeepCipher) cipher.shrink_to_fit();
}

void Stream::FlushPending() {
  size_t sent = SendSome(pending_);
  if (sent < pending_.size()) {
    pending_.erase(0, sent);
    return;
  }
  pending_ = {};  // an idle connection keeps no buffer
  if (shutting_) FinishShutdown();
}

size_t Stream::Write(std::span<const iovec> pieces) {
  KEELSON_CHECK(!shutting_);
  if (closed() || phase_ != Phase::kOpen || blocked_) return 0;
  return tls_ ? WriteTls(pieces) : WritePlain(pieces);
}

size_t Stream::WritePlain(std::span<const iovec> pieces) {
  size_t taken = 0;
  while (!pieces.empty()) {
    auto some = pieces.first(std::min<size_t>(pieces.size(), kMaxPieces));
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(some.data());
    message.msg_iovlen = some.size();
    ssize_t count = sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) BreakLater(errno);
    if (count > 0) taken += static_cast<size_t>(count);
    if (count < 0 || static_cast<size_t>(count) < TotalSize(some)) {
      blocked_ = true;
      break;
    }
    pieces = pieces.subspan(some.size());
  }
  return taken;
}

size_t Stream::WriteTls(std::span<const iovec> pieces) {
  auto& scratch = thread_.scratch();
  bool after_pause = thread_.Now() - last_write_ > kPause;
  last_write_ = thread_.Now();
  size_t taken = tls_->Encrypt(
      pieces, after_pause, {scratch.record.get(), IoThread::Scratch::kRecordSize}, scratch.cipher);
  SendCipher();
  return taken;
}

void Stream::BreakLater(int error_number) {
  if (broken_ == 0) broken_ = error_number;
  thread_.AtTurnEnd(*this);
}

void Stream::ShutdownWrite() {
  if (closed() || shutting_) return;
  shutting_ = true;
  if (tls_) {
    tls_->CloseNotify(thread_.scratch().cipher);
    SendCipher();
  }
  if (pending_.empty()) FinishShutdown();
}

void Stream::FinishShutdown() {
  if (std::exchange(shut_, true)) return;
  shutdown(fd_, SHUT_WR);
  handler_->OnWriteShutdown();
}

}  // namespace keelson::net
