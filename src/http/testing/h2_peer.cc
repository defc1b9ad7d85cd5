#include "http/testing/h2_peer.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/result.h"

namespace keelson::http::testing {

struct H2Peer::State {
  Handler handler;
  int listener = -1;
  int wake[2] = {-1, -1};
  uint16_t port = 0;
  std::vector<std::unique_ptr<Connection>> connections;  // of the peer's thread

  std::mutex mutex;  // guards what follows
  int accepted = 0;
  int pings = 0;
  bool stopping = false;
  bool dropping = false;
  bool frozen = false;
};

struct Connection {
  Connection(H2Peer::State& state, int fd);
  ~Connection() {
    nghttp2_session_del(session);
    ::close(fd);
  }
  bool Receive();
  void Send();
  H2Peer::Stream& At(int32_t id);
  static ssize_t ReadOut(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t length,
                         uint32_t* flags, nghttp2_data_source* source, void*);

  H2Peer::State& state;
  int fd;
  nghttp2_session* session = nullptr;
  std::map<int32_t, H2Peer::Stream> streams;
};

namespace {

std::vector<nghttp2_nv> Native(const H2Peer::Fields& fields) {
  std::vector<nghttp2_nv> native;
  for (const auto& [name, value] : fields) {
    auto bytes = [](const std::string& text) {
      return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
    };
    native.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  return native;
}

std::string Text(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

Connection::Connection(H2Peer::State& s, int socket) : state(s), fd(socket) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks,
      [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
         const uint8_t* value, size_t value_size, uint8_t, void* user) {
        auto& stream = static_cast<Connection*>(user)->At(frame->hd.stream_id);
        auto key = Text(name, name_size);
        if (key == ":path") stream.path = Text(value, value_size);
        stream.headers[key] = Text(value, value_size);
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks,
      [](nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* user) {
        static_cast<Connection*>(user)->At(id).body += Text(data, size);
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        auto& self = *static_cast<Connection*>(user);
        if (frame->hd.type == NGHTTP2_PING) {
          std::lock_guard lock(self.state.mutex);
          ++self.state.pings;
        }
        if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
        auto& stream = self.At(frame->hd.stream_id);
        stream.ended = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
        self.state.handler(stream);
        nghttp2_session_resume_data(self.session, frame->hd.stream_id);
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session*, int32_t id, uint32_t, void* user) {
        static_cast<Connection*>(user)->streams.erase(id);
        return 0;
      });
  KEELSON_CHECK(nghttp2_session_server_new(&session, callbacks, this) == 0);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  Send();
}

H2Peer::Stream& Connection::At(int32_t id) {
  auto& stream = streams[id];
  stream.connection_ = this;
  stream.id_ = id;
  return stream;
}

bool Connection::Receive() {
  char bytes[16384];
  ssize_t size = ::read(fd, bytes, sizeof bytes);
  if (size <= 0) return false;
  if (nghttp2_session_mem_recv(session, reinterpret_cast<uint8_t*>(bytes), size) < 0) return false;
  Send();
  return true;
}

void Connection::Send() {
  const uint8_t* bytes = nullptr;
  for (ssize_t size; (size = nghttp2_session_mem_send(session, &bytes)) > 0;) {
    while (size > 0) {
      ssize_t sent = ::send(fd, bytes, size, MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes += sent;
      size -= sent;
    }
  }
}

ssize_t Connection::ReadOut(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t length,
                            uint32_t* flags, nghttp2_data_source* source, void*) {
  auto& stream = static_cast<Connection*>(source->ptr)->At(id);
  size_t size = std::min(length, stream.out_.size());
  std::memcpy(buffer, stream.out_.data(), size);
  stream.out_.erase(0, size);
  if (stream.out_.empty() && stream.ends_) {
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    auto native = Native(stream.trailers_);
    nghttp2_submit_trailer(session, id, native.data(), native.size());
    return static_cast<ssize_t>(size);
  }
  return size == 0 ? static_cast<ssize_t>(NGHTTP2_ERR_DEFERRED) : static_cast<ssize_t>(size);
}

void H2Peer::Stream::Head(const std::string& status, Fields fields) {
  fields.insert(fields.begin(), {":status", status});
  auto native = Native(fields);
  nghttp2_data_provider provider{};
  provider.source.ptr = connection_;
  provider.read_callback = Connection::ReadOut;
  nghttp2_submit_response(connection_->session, id_, native.data(), native.size(), &provider);
}

void H2Peer::Stream::Trailers(Fields fields) {
  trailers_ = std::move(fields);
  ends_ = true;
}

void H2Peer::Stream::HeadOnly(Fields fields) {
  fields.insert(fields.begin(), {":status", "200"});
  auto native = Native(fields);
  nghttp2_submit_response(connection_->session, id_, native.data(), native.size(), nullptr);
}

void H2Peer::Stream::Reset(uint32_t code) {
  nghttp2_submit_rst_stream(connection_->session, NGHTTP2_FLAG_NONE, id_, code);
}

H2Peer::H2Peer(Handler handler, std::string unix_path) : state_(std::make_unique<State>()) {
  state_->handler = std::move(handler);
  KEELSON_CHECK(::pipe(state_->wake) == 0);
  if (!unix_path.empty()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, unix_path.c_str(), sizeof address.sun_path - 1);
    state_->listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    KEELSON_CHECK(::bind(state_->listener, reinterpret_cast<sockaddr*>(&address), sizeof address) ==
                  0);
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    state_->listener = ::socket(AF_INET, SOCK_STREAM, 0);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    KEELSON_CHECK(::bind(state_->listener, any, size) == 0);
    KEELSON_CHECK(::getsockname(state_->listener, any, &size) == 0);
    state_->port = ntohs(address.sin_port);
  }
  KEELSON_CHECK(::listen(state_->listener, 16) == 0);
  thread_ = std::thread([this] { Run(); });
}

H2Peer::~H2Peer() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  Wake();
  thread_.join();
  ::close(state_->listener);
  for (int fd : state_->wake) ::close(fd);
}

void H2Peer::Run() {
  for (;;) {
    bool frozen = false;
    {
      std::lock_guard lock(state_->mutex);
      if (state_->stopping) break;
      if (std::exchange(state_->dropping, false)) state_->connections.clear();
      frozen = state_->frozen;
    }
    std::vector<pollfd> waiting = {{state_->wake[0], POLLIN, 0}, {state_->listener, POLLIN, 0}};
    for (const auto& connection : state_->connections) {
      waiting.push_back({connection->fd, POLLIN, 0});
    }
    if (frozen) waiting.resize(1);
    ::poll(waiting.data(), waiting.size(), -1);
    if (waiting[0].revents != 0) {
      char drop[64];
      (void)!::read(state_->wake[0], drop, sizeof drop);
      continue;
    }
    std::vector<Connection*> gone;
    for (size_t i = 2; i < waiting.size(); ++i) {
      auto* connection = state_->connections[i - 2].get();
      if (waiting[i].revents != 0 && !connection->Receive()) gone.push_back(connection);
    }
    std::erase_if(state_->connections, [&](const auto& connection) {
      return std::ranges::find(gone, connection.get()) != gone.end();
    });
    if (waiting[1].revents != 0) {
      int fd = ::accept(state_->listener, nullptr, nullptr);
      int at_once = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
      if (fd >= 0) state_->connections.push_back(std::make_unique<Connection>(*state_, fd));
      std::lock_guard lock(state_->mutex);
      ++state_->accepted;
    }
  }
  state_->connections.clear();
}

void H2Peer::Wake() { (void)!::write(state_->wake[1], "w", 1); }

std::string H2Peer::url(std::string_view path) const {
  return fmt::format("http://127.0.0.1:{}{}", state_->port, path);
}

int H2Peer::accepted() const {
  std::lock_guard lock(state_->mutex);
  return state_->accepted;
}

int H2Peer::pings() const {
  std::lock_guard lock(state_->mutex);
  return state_->pings;
}

void H2Peer::DropConnections() {
  {
    std::lock_guard lock(state_->mutex);
    state_->dropping = true;
  }
  Wake();
}

void H2Peer::Freeze(bool frozen) {
  {
    std::lock_guard lock(state_->mutex);
    state_->frozen = frozen;
  }
  Wake();
}

}  // namespace keelson::http::testing
