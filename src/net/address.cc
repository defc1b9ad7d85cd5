#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace keelson::net {
namespace {

template <typename T>
T As(const sockaddr* address) {
  T value;
  std::memcpy(&value, address, sizeof(value));
  return value;
}

template <typename T>
Address From(const T& value) {
  return Address::FromKernel(reinterpret_cast<const sockaddr*>(&value), sizeof(value));
}

}  // namespace

Result<Address> Address::Ip(std::string_view host, uint16_t port) {
  std::string text(host);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  if (text.empty()) text = "::";
  sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port)};
  if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) return From(v4);
  sockaddr_in6 v6{.sin6_family = AF_INET6, .sin6_port = htons(port)};
  if (inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) return From(v6);
  return Fail(ErrorCode::kInvalid, "\"{}\" is not an IP address", host);
}

Result<Address> Address::Unix(std::string_view path) {
  sockaddr_un unix_address{.sun_family = AF_UNIX};
  if (path.empty() || path.size() >= sizeof(unix_address.sun_path)) {
    return Fail(ErrorCode::kInvalid, "\"{}\" does not fit a Unix socket address", path);
  }
  path.copy(unix_address.sun_path, path.size());
  return From(unix_address);
}

Address Address::FromKernel(const sockaddr* address, socklen_t size) {
  Address result;
  result.size_ = std::min<socklen_t>(size, sizeof(result.storage_));
  std::memcpy(&result.storage_, address, result.size_);
  return result;
}

std::string Address::ToString() const {
  char text[INET6_ADDRSTRLEN] = "";
  switch (family()) {
    case AF_INET: {
      auto v4 = As<sockaddr_in>(data());
      inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
      return fmt::format("{}:{}", text, ntohs(v4.sin_port));
    }
    case AF_INET6: {
      auto v6 = As<sockaddr_in6>(data());
      if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {  // an IPv4 peer of a dual-stack listener
        inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text, sizeof(text));
        return fmt::format("{}:{}", text, ntohs(v6.sin6_port));
      }
      inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
      return fmt::format("[{}]:{}", text, ntohs(v6.sin6_port));
    }
    default: {
      constexpr size_t kPathOffset = offsetof(sockaddr_un, sun_path);
      if (size_ <= kPathOffset) return "@";
      std::string_view path(storage_.bytes + kPathOffset, size_ - kPathOffset);
      path = path.substr(0, path.find('\0'));
      return path.empty() ? "@" : std::string(path);
    }
  }
}

uint16_t Address::port() const {
  if (family() == AF_INET) return ntohs(As<sockaddr_in>(data()).sin_port);
  if (family() == AF_INET6) return ntohs(As<sockaddr_in6>(data()).sin6_port);
  return 0;
}

Address LocalAddress(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return Address::FromKernel(reinterpret_cast<sockaddr*>(&storage), size);
}

Address RemoteAddress(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return Address::FromKernel(reinterpret_cast<sockaddr*>(&storage), size);
}

}  // namespace keelson::net
