#pragma once

// What authentication has found out about a connection, kept in ConnectionInfo::memo so that the
// next request on it costs next to nothing. Touched by the connection's io thread only.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "auth/user.h"
#include "base/clock.h"
#include "http/exchange.h"

namespace keelson::auth {

struct ConnectionMemo {
  // The last good token and whom it stands for.
  std::string token;
  UserPtr token_user;
  std::vector<std::string> token_audiences;
  TimePoint token_until;

  // What the client certificate says, judged against a certain set of authorities.
  struct Certificate {
    uint64_t generation = 0;  // of the authorities; 0 when not judged yet
    UserPtr user;             // null: refused
    std::string error;        // why
    WallTime not_after;
  };
  Certificate client;       // as a user
  Certificate front_proxy;  // as a proxy that vouches for users

  // Of this connection; null when the request has none.
  static ConnectionMemo* Of(const http::Request& request) {
    if (request.connection == nullptr) return nullptr;
    auto& memo = request.connection->memo;
    if (memo == nullptr) memo = std::make_shared<ConnectionMemo>();
    return static_cast<ConnectionMemo*>(memo.get());
  }
};

}  // namespace keelson::auth
