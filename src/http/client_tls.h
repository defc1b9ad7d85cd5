#pragma once

// The TLS contexts of a client, made when first needed: reading the system's authorities takes
// some 70 ms, and many clients never need them. Private to the client's sources; thread-safe.

#include <memory>
#include <mutex>

#include "base/result.h"
#include "net/tls_context.h"

namespace keelson::http {

class ClientTls {
 public:
  // Checks what can be checked without the system's authorities.
  static Result<std::shared_ptr<ClientTls>> Create(net::TlsClientOptions options);

  // `h1_only` offers HTTP/1.1 alone.
  Result<std::shared_ptr<const net::TlsContext>> Get(bool h1_only);

 private:
  explicit ClientTls(net::TlsClientOptions options) : options_(std::move(options)) {}

  const net::TlsClientOptions options_;
  std::mutex mutex_;
  std::shared_ptr<const net::TlsContext> any_;  // as ALPN decides
  std::shared_ptr<const net::TlsContext> h1_;
};

}  // namespace keelson::http
