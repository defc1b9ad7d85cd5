#pragma once

// Who a client certificate stands for, and the proxies that vouch for others with one.
//
// The handshake takes any certificate; whether it is believed is decided here, once per connection
// and set of authorities, and remembered with the connection.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "auth/authenticator.h"
#include "auth/connection_memo.h"
#include "auth/followed_file.h"
#include "base/clock.h"
#include "crypto/certificate.h"
#include "crypto/verify.h"

namespace keelson::auth {

// The authorities of a file, followed as it changes. Thread-safe.
class TrustFile {
 public:
  static Result<std::shared_ptr<TrustFile>> Open(const std::string& path, Clock& clock);

  // Counts the changes of the file, from 1.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  // The chain leads to one of the authorities, which let it speak for a client.
  Result<void> Verify(const std::vector<std::string>& chain) const;
  const Clock& clock() const { return clock_; }

 private:
  TrustFile(crypto::TrustBundle bundle, Clock& clock) : clock_(clock), bundle_(std::move(bundle)) {}

  Clock& clock_;
  std::atomic<uint64_t> generation_{1};
  mutable std::mutex mutex_;
  crypto::TrustBundle bundle_;
  std::unique_ptr<FollowedFile> file_;
};

// The common name is the user, the organizations are the groups. Nothing when there is no common
// name.
std::optional<User> UserOfCertificate(const crypto::Certificate& certificate);

class ClientCertificateAuthenticator final : public Authenticator {
 public:
  explicit ClientCertificateAuthenticator(std::shared_ptr<TrustFile> trust)
      : trust_(std::move(trust)) {}
  std::optional<Authentication> TryAuthenticate(const http::Request& request) override;

 private:
  std::shared_ptr<TrustFile> trust_;
};

// The --requestheader flags.
struct FrontProxyOptions {
  std::vector<std::string> allowed_names;  // common names of proxies; empty: any
  std::vector<std::string> username_headers;
  std::vector<std::string> uid_headers;
  std::vector<std::string> group_headers;
  std::vector<std::string> extra_header_prefixes;
};

// Believes headers about the user, but only from a proxy that shows a certificate of its own.
class FrontProxyAuthenticator final : public Authenticator {
 public:
  FrontProxyAuthenticator(std::shared_ptr<TrustFile> trust, FrontProxyOptions options);
  std::optional<Authentication> TryAuthenticate(const http::Request& request) override;

 private:
  UserPtr UserOfHeaders(const http::Headers& headers) const;

  std::shared_ptr<TrustFile> trust_;
  const FrontProxyOptions options_;  // header names in lower case
};

}  // namespace keelson::auth
