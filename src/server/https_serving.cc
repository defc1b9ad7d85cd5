#include "server/https_serving.h"

#include <unistd.h>

#include <utility>

#include "base/log.h"
#include "crypto/issue.h"

namespace keelson::server {
namespace {

// A self-signed certificate is good for a year from an hour ago.
constexpr Duration kLoopbackValidity = std::chrono::hours(365 * 24 - 1);

crypto::CertificateTime NowSeconds(const Clock& clock) {
  return std::chrono::floor<std::chrono::seconds>(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(clock.WallNow()));
}

// "cert.pem,key.pem" or "cert.pem,key.pem:name,name"
Result<net::TlsFileSet::Named> ParseSniPair(std::string_view text) {
  net::TlsFileSet::Named named;
  auto comma = text.find(',');
  auto colon = text.find(':', comma == std::string_view::npos ? 0 : comma);
  auto key = comma == std::string_view::npos ? std::string_view()
                                             : text.substr(comma + 1, colon - comma - 1);
  named.certificate_file = text.substr(0, comma);
  named.key_file = key;
  if (named.certificate_file.empty() || named.key_file.empty()) {
    return Fail(ErrorCode::kInvalid, "expected comma separated certificate and key file paths");
  }
  if (colon == std::string_view::npos) return named;
  auto names = text.substr(colon + 1);
  while (!names.empty()) {
    auto name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (name.empty()) return Fail(ErrorCode::kInvalid, "empty domain name in --tls-sni-cert-key");
    named.names.emplace_back(name);
  }
  return named;
}

// Each interface and both families when the address is unspecified, as upstream listens.
Result<net::Address> BindAddress(const SecureServingOptions& options) {
  bool any = options.bind_address.empty() || options.bind_address == "0.0.0.0" ||
             options.bind_address == "::";
  return net::Address::Ip(any ? "" : options.bind_address,
                          static_cast<uint16_t>(options.secure_port));
}

}  // namespace

Result<std::unique_ptr<HttpsServing>> HttpsServing::Create(const SecureServingOptions& options,
                                                           std::string_view public_address,
                                                           net::IoPool& pool, Clock& clock,
                                                           RequestMetrics& metrics) {
  std::unique_ptr<HttpsServing> serving(new HttpsServing(options, pool, metrics));
  net::TlsFileSet files;
  files.certificate_file = options.tls_cert_file;
  files.key_file = options.tls_private_key_file;
  if (files.certificate_file.empty()) {
    TRY(auto pair, crypto::SelfSignedServing({.cert_dir = options.cert_dir,
                                              .public_address = std::string(public_address),
                                              .bind_address = options.bind_address,
                                              .alternate_dns = {"kubernetes.default.svc",
                                                                "kubernetes.default", "kubernetes"},
                                              .now = NowSeconds(clock)}));
    files.certificate_file = pair.certificate_file;
    files.key_file = pair.key_file;
  }
  TRY(auto loopback, crypto::SelfSignedServing({.public_address = kLoopbackServerName,
                                                .bind_address = options.bind_address,
                                                .now = NowSeconds(clock)}));
  serving->loopback_ca_pem_ = loopback.certificate_pem;
  serving->loopback_expires_ = clock.WallNow() + kLoopbackValidity;
  files.fixed.sni.push_back({{loopback.certificate_pem, loopback.key_pem}, {kLoopbackServerName}});
  for (const auto& pair : options.tls_sni_cert_key) {
    TRY(auto named, ParseSniPair(pair));
    files.sni.push_back(std::move(named));
  }
  for (const auto& file : {options.client_ca_file, options.request_header_ca_file}) {
    if (!file.empty()) files.client_ca_files.push_back(file);
  }
  if (!options.tls_min_version.empty()) {
    TRY(files.fixed.min_version, net::ParseTlsVersion(options.tls_min_version));
  }
  TRY_VOID(net::CheckCipherSuites(options.tls_cipher_suites));
  files.fixed.cipher_suites = options.tls_cipher_suites;
  if (options.disable_http2_serving) files.fixed.alpn = {"http/1.1"};
  TRY(serving->tls_, net::TlsFiles::Create(std::move(files), clock));
  return serving;
}

HttpsServing::~HttpsServing() {
  server_.reset();
  tls_->Stop();
}

Result<void> HttpsServing::Start(http::Handler& handler) {
  http::ServerOptions options;
  if (options_.http2_max_streams_per_connection > 0) {
    options.engine.max_concurrent_streams =
        static_cast<uint32_t>(options_.http2_max_streams_per_connection);
  }
  options.observer = this;
  TRY(auto address, BindAddress(options_));
  options.listen.push_back({.address = address,
                            .tls = tls_->holder(),
                            .socket = {.reuse_port = options_.permit_port_sharing}});
  TRY(server_, http::Server::Create(std::move(options), pool_, handler));
  tls_->Start();
  server_->Start();
  return {};
}

std::string HttpsServing::address() const { return server_->addresses()[0].ToString(); }

Task<void> HttpsServing::Stop(Duration timeout, std::function<void()> listener_closed) {
  co_await server_->StopListening();
  log::Info("Stopped listening on {}", address());
  listener_closed();
  if (!co_await server_->GracefulShutdown(timeout)) {
    log::WarningS("connections were cut at shutdown", {{"after", timeout.count() / 1'000'000'000}});
  }
}

std::shared_ptr<const LoopbackClientConfig> HttpsServing::Loopback(std::string token) const {
  auto config = std::make_shared<LoopbackClientConfig>();
  bool any = options_.bind_address == "0.0.0.0" || options_.bind_address.empty();
  auto host = any ? "127.0.0.1" : options_.bind_address == "::" ? "::1" : options_.bind_address;
  bool ipv6 = host.find(':') != std::string::npos;
  config->host = fmt::format("https://{}{}{}:{}", ipv6 ? "[" : "", host, ipv6 ? "]" : "",
                             options_.secure_port);
  config->server_name = kLoopbackServerName;
  config->ca_pem = loopback_ca_pem_;
  config->bearer_token = std::move(token);
  config->expires = loopback_expires_;
  return config;
}

Result<std::unique_ptr<UnixServing>> UnixServing::Create(const std::string& path, net::IoPool& pool,
                                                         http::Handler& handler) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return FailErrno(errno, fmt::format("failed to remove ({})", path));
  }
  TRY(auto address, net::Address::Unix(path));
  http::ServerOptions options;
  options.listen.push_back({.address = address});
  std::unique_ptr<UnixServing> serving(new UnixServing);
  TRY(serving->server_, http::Server::Create(std::move(options), pool, handler));
  serving->server_->Start();
  return serving;
}

}  // namespace keelson::server
