#include "kv/etcd/testing/relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/result.h"

namespace keelson::kv::testing {
namespace {

sockaddr_in Local(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

struct Pair {
  int ends[2];
};

// Passes on what there is; false when one end is gone.
bool Pass(int from, int to) {
  char bytes[65536];
  ssize_t size = ::recv(from, bytes, sizeof bytes, MSG_DONTWAIT);
  if (size <= 0) return false;
  for (ssize_t sent = 0; sent < size;) {
    ssize_t n = ::send(to, bytes + sent, size - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += n;
  }
  return true;
}

}  // namespace

Relay::Relay(uint16_t to) : to_(to) {
  auto address = Local(0);
  socklen_t size = sizeof address;
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  KEELSON_CHECK(::bind(listener_, any, size) == 0 && ::listen(listener_, 64) == 0);
  KEELSON_CHECK(::getsockname(listener_, any, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

Relay::~Relay() {
  stopping_ = true;
  thread_.join();
  ::close(listener_);
}

void Relay::Run() {
  std::vector<Pair> pairs;
  while (!stopping_) {
    std::vector<pollfd> waiting = {{listener_, POLLIN, 0}};
    for (const auto& pair : pairs) {
      for (int end : pair.ends) waiting.push_back({end, POLLIN, 0});
    }
    if (cut_) waiting.clear();
    ::poll(waiting.data(), waiting.size(), 20);
    if (waiting.empty()) continue;
    for (size_t i = pairs.size(); i-- > 0;) {
      bool alive = true;
      for (int side : {0, 1}) {
        if (waiting[1 + 2 * i + side].revents == 0) continue;
        alive = alive && Pass(pairs[i].ends[side], pairs[i].ends[1 - side]);
      }
      if (alive) continue;
      for (int end : pairs[i].ends) ::close(end);
      pairs.erase(pairs.begin() + static_cast<ptrdiff_t>(i));
    }
    if (waiting[0].revents == 0) continue;
    int in = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    int out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = Local(to_);
    int at_once = 1;
    for (int end : {in, out}) ::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    if (::connect(out, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      pairs.push_back({{in, out}});
    } else {
      ::close(in);
      ::close(out);
    }
  }
  for (const auto& pair : pairs) {
    for (int end : pair.ends) ::close(end);
  }
}

}  // namespace keelson::kv::testing
