#pragma once

// The parts of an http or https URL that a client needs. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace keelson::http {

struct ClientUrl {
  bool tls = false;
  std::string host;       // without brackets: "example.com", "::1"
  uint16_t port = 0;      // the scheme's default when not given
  std::string authority;  // as it goes into Host: no default port, brackets kept
  std::string target;     // path and query, at least "/"; without the fragment

  // kInvalid for another scheme, user info, an empty host, a bad port, or bytes that have no place
  // in a request line.
  static Result<ClientUrl> Parse(std::string_view url);
};

// "host:port", "[::1]:port" or "host" into its parts; the port is `fallback` when absent.
Result<std::pair<std::string, uint16_t>> SplitHostPort(std::string_view text, uint16_t fallback);

}  // namespace keelson::http
