#pragma once

// Serving over TLS: certificates, listeners and the HTTP server behind the Serving seam.
//
// Besides the certificate for clients there is one for the server's own loopback client, made in
// memory at every start and offered only to those who ask for its name.

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "http/server.h"
#include "net/io_thread.h"
#include "net/tls_files.h"
#include "server/hooks.h"
#include "server/options.h"
#include "server/request_metrics.h"
#include "server/serving.h"

namespace keelson::server {

inline constexpr const char* kLoopbackServerName = "apiserver-loopback-client";

class HttpsServing final : public Serving, private http::ServerObserver {
 public:
  // Reads or makes the certificates. `pool` and `metrics` outlive this.
  static Result<std::unique_ptr<HttpsServing>> Create(const SecureServingOptions& options,
                                                      std::string_view public_address,
                                                      net::IoPool& pool, Clock& clock,
                                                      RequestMetrics& metrics);
  ~HttpsServing() override;

  Result<void> Start(http::Handler& handler) override;
  std::string address() const override;
  Task<void> Stop(Duration timeout, std::function<void()> listener_closed) override;

  // For post-start hooks; `token` must be known to the authenticator.
  std::shared_ptr<const LoopbackClientConfig> Loopback(std::string token) const;

 private:
  HttpsServing(const SecureServingOptions& options, net::IoPool& pool, RequestMetrics& metrics)
      : options_(options), pool_(pool), metrics_(metrics) {}
  void OnHandshakeError() override { metrics_.tls_handshake_errors().Add(); }

  const SecureServingOptions options_;
  net::IoPool& pool_;
  RequestMetrics& metrics_;
  std::unique_ptr<net::TlsFiles> tls_;
  std::string loopback_ca_pem_;
  WallTime loopback_expires_{};
  std::unique_ptr<http::Server> server_;
};

// HTTP in clear on a Unix socket, for the debug handler. Served while it exists.
class UnixServing {
 public:
  static Result<std::unique_ptr<UnixServing>> Create(const std::string& path, net::IoPool& pool,
                                                     http::Handler& handler);

 private:
  std::unique_ptr<http::Server> server_;
};

}  // namespace keelson::server
