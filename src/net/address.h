#pragma once

// A socket address: IPv4, IPv6 or a Unix path. A plain value.

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace keelson::net {

class Address {
 public:
  Address() = default;

  // A numeric address; no name is looked up. "" is every IPv6 and IPv4 address, as with Go's ":80".
  static Result<Address> Ip(std::string_view host, uint16_t port);
  static Result<Address> Unix(std::string_view path);
  static Address FromKernel(const sockaddr* address, socklen_t size);

  // "127.0.0.1:80", "[::1]:80", a path, or "@" for an unnamed Unix peer.
  std::string ToString() const;
  uint16_t port() const;
  int family() const { return storage_.any.sa_family; }

  const sockaddr* data() const { return &storage_.any; }
  socklen_t size() const { return size_; }

 private:
  union {
    sockaddr any;
    char bytes[sizeof(sockaddr_un)];
  } storage_ = {.bytes = {}};
  socklen_t size_ = 0;
};

// The local and the remote end of a socket.
Address LocalAddress(int fd);
Address RemoteAddress(int fd);

}  // namespace keelson::net
