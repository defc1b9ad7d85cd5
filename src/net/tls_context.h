#pragma once

// What a TLS endpoint knows before a connection exists: keys, trusted certificates, versions.
//
// A TlsContext is immutable and shared by the connections made from it; replacing certificates
// means building a new one and handing it to new connections (TlsContextHolder). All PEM text is
// parsed at Create, so a bad file is an Error with its reason and never a broken listener.

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace keelson::net {

struct TlsKeyPair {
  std::string certificate_pem;  // leaf first, then intermediates
  std::string key_pem;
};

// A certificate offered to clients that ask for one of `names`: exact names, or "*.example.com"
// for one label. Without names, those of the certificate itself count.
struct TlsNamedKeyPair {
  TlsKeyPair pair;
  std::vector<std::string> names;
};

enum class TlsVersion { kTls10, kTls11, kTls12, kTls13 };

struct TlsServerOptions {
  TlsKeyPair default_pair;
  std::vector<TlsNamedKeyPair> sni;  // the first match wins
  // When not empty, clients are asked for a certificate. Whatever they present, or nothing, the
  // handshake goes on; the verdict is in TlsFacts.
  std::string client_ca_pem;
  TlsVersion min_version = TlsVersion::kTls12;
  // IANA names; empty for the default. Those of TLS 1.3 are always on, as in Go.
  std::vector<std::string> cipher_suites;
  std::vector<std::string> alpn = {"h2", "http/1.1"};  // in order of preference
};

struct TlsClientOptions {
  std::string ca_pem;         // trusted roots; empty for those of the system
  TlsKeyPair client_pair;     // presented when the server asks; may be empty
  bool verify_server = true;  // chain and host name
  std::vector<std::string> alpn = {"h2", "http/1.1"};
};

// "VersionTLS12" as in Go and in upstream's flags.
Result<TlsVersion> ParseTlsVersion(std::string_view name);
// Checks IANA names; unknown and insecure-by-omission names are refused.
Result<void> CheckCipherSuites(const std::vector<std::string>& names);
// All accepted names, preferred ones first, for help texts.
std::vector<std::string_view> CipherSuiteNames();

class TlsContext {
 public:
  static Result<std::shared_ptr<const TlsContext>> Server(const TlsServerOptions& options);
  static Result<std::shared_ptr<const TlsContext>> Client(const TlsClientOptions& options);
  ~TlsContext();

  bool server() const { return server_; }
  bool verify_server() const { return verify_server_; }
  ssl_ctx_st* native() const { return default_.get(); }
  // The context whose certificate answers to `name`.
  ssl_ctx_st* ForName(std::string_view name) const;

 private:
  struct FreeNative {
    void operator()(ssl_ctx_st* context) const;
  };
  using Native = std::unique_ptr<ssl_ctx_st, FreeNative>;
  struct Named {
    std::vector<std::string> names;
    Native native;
  };
  TlsContext() = default;
  static Result<Native> ServerNative(const TlsServerOptions& options, const TlsKeyPair& pair,
                                     std::string_view ticket_keys, const TlsContext* self);

  bool server_ = false;
  bool verify_server_ = true;
  std::string alpn_wire_;  // length-prefixed names
  Native default_;
  std::vector<Named> named_;
};

// The context new connections take. Thread-safe.
class TlsContextHolder {
 public:
  explicit TlsContextHolder(std::shared_ptr<const TlsContext> context)
      : context_(std::move(context)) {}

  std::shared_ptr<const TlsContext> Get() const {
    std::lock_guard lock(mutex_);
    return context_;
  }
  void Set(std::shared_ptr<const TlsContext> context) {
    std::lock_guard lock(mutex_);
    context_.swap(context);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsContext> context_;
};

}  // namespace keelson::net
