#include "server/systemd.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace keelson::server {

Result<void> NotifySystemd(std::string_view state) {
  const char* variable = getenv("NOTIFY_SOCKET");
  if (variable == nullptr || *variable == 0) return {};
  std::string path = variable;
  unsetenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) {
    return Fail(ErrorCode::kInvalid, "NOTIFY_SOCKET is no socket path: {}", path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path[0] == '@') address.sun_path[0] = 0;  // the abstract namespace
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return FailErrno(errno, "notifying systemd");
  auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  ssize_t sent = sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                        reinterpret_cast<const sockaddr*>(&address), size);
  int error = errno;
  close(fd);
  if (sent < 0) return FailErrno(error, "notifying systemd");
  return {};
}

}  // namespace keelson::server
