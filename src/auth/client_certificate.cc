#include "auth/client_certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "crypto/digest.h"
#include "http/query.h"

namespace keelson::auth {
namespace {

constexpr std::string_view kCredentialId = "authentication.kubernetes.io/credential-id";

crypto::CertificateTime Seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
}

using Memo = ConnectionMemo::Certificate;

// Names the certificate in a log line; says nothing of its key.
std::string Describe(const crypto::Certificate& certificate) {
  return fmt::format("certificate SN={}, subject {}", certificate.serial, certificate.subject.text);
}

Memo Refused(std::string why) { return {.error = std::move(why)}; }

// Judges the leaf of a chain; `speaker` is filled with whom it names.
Memo Judge(const TrustFile& trust, const http::PeerCertificates& peer) {
  if (peer.der.empty()) return Refused("no certificate");
  auto leaf = crypto::ParseCertificate(peer.der.front());
  if (!leaf) return Refused(leaf.error().message);
  if (auto verified = trust.Verify(peer.der); !verified) {
    return Refused(
        fmt::format("verifying {} failed: {}", Describe(*leaf), verified.error().message));
  }
  auto user = UserOfCertificate(*leaf);
  if (!user) return Refused("the certificate names no user");
  return {.user = std::make_shared<const User>(*std::move(user)), .not_after = leaf->not_after};
}

// The standing verdict about the connection's certificate, made anew when the authorities have
// changed or the certificate has expired.
const Memo& Judged(const TrustFile& trust, const http::PeerCertificates& peer, Memo& memo) {
  const auto generation = trust.generation();
  const bool expired = memo.user && trust.clock().WallNow() > memo.not_after;
  if (memo.generation != generation || expired) {
    memo = Judge(trust, peer);
    memo.generation = generation;
  }
  return memo;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return lower;
}

void LowerAll(std::vector<std::string>& names) {
  for (auto& name : names) name = Lower(name);
}

std::string FirstOf(const http::Headers& headers, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    auto value = headers.Get(name).value_or("");
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
    if (!value.empty()) return std::string(value);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<TrustFile>> TrustFile::Open(const std::string& path, Clock& clock) {
  TRY(auto text, ReadWholeFile(path));
  auto bundle = crypto::TrustBundle::FromPem(text);
  if (!bundle) return Annotate(bundle.error(), "reading " + path);
  std::shared_ptr<TrustFile> trust(new TrustFile(*std::move(bundle), clock));
  trust->file_ = std::make_unique<FollowedFile>(
      path, std::move(text), clock, [trust = trust.get()](const std::string& pem) -> Result<void> {
        TRY(auto changed, crypto::TrustBundle::FromPem(pem));
        std::lock_guard lock(trust->mutex_);
        trust->bundle_ = std::move(changed);
        trust->generation_.fetch_add(1, std::memory_order_release);
        return {};
      });
  return trust;
}

Result<void> TrustFile::Verify(const std::vector<std::string>& chain) const {
  std::unique_lock lock(mutex_);
  auto bundle = bundle_;
  lock.unlock();
  return bundle.Verify(chain, crypto::ExtendedKeyUsage::kClientAuth, Seconds(clock_.WallNow()));
}

std::optional<User> UserOfCertificate(const crypto::Certificate& certificate) {
  if (certificate.subject.common_name.empty()) return std::nullopt;
  User user{.name = certificate.subject.common_name,
            .uid = certificate.subject.uids.empty() ? "" : certificate.subject.uids.front(),
            .groups = certificate.subject.organizations,
            .extra = {{std::string(kCredentialId),
                       {"X509SHA256=" + crypto::HexEncode(certificate.fingerprint)}}}};
  if (!user.InGroup(kAuthenticatedGroup)) user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

std::optional<Authentication> ClientCertificateAuthenticator::TryAuthenticate(
    const http::Request& request) {
  if (request.connection == nullptr || request.connection->peer == nullptr) {
    return Authentication{};
  }
  const auto& memo =
      Judged(*trust_, *request.connection->peer, ConnectionMemo::Of(request)->client);
  if (!memo.user) return Authentication{.error = Error{ErrorCode::kDenied, memo.error}};
  return Authentication{.user = memo.user};
}

FrontProxyAuthenticator::FrontProxyAuthenticator(std::shared_ptr<TrustFile> trust,
                                                 FrontProxyOptions options)
    : trust_(std::move(trust)), options_([&] {
        LowerAll(options.username_headers);
        LowerAll(options.uid_headers);
        LowerAll(options.group_headers);
        LowerAll(options.extra_header_prefixes);
        return std::move(options);
      }()) {}

UserPtr FrontProxyAuthenticator::UserOfHeaders(const http::Headers& headers) const {
  User user{.name = FirstOf(headers, options_.username_headers),
            .uid = FirstOf(headers, options_.uid_headers)};
  if (user.name.empty()) return nullptr;
  for (const auto& name : options_.group_headers) {
    for (auto group : headers.GetAll(name)) {
      if (!group.empty()) user.groups.emplace_back(group);
    }
  }
  for (const auto& prefix : options_.extra_header_prefixes) {
    for (const auto& field : headers.fields()) {
      auto name = Lower(field.name);
      if (!name.starts_with(prefix)) continue;
      name.erase(0, prefix.size());
      user.extra[http::DecodePath(name).value_or(name)].emplace_back(field.value);
    }
  }
  if (!user.InGroup(kAuthenticatedGroup)) user.groups.emplace_back(kAuthenticatedGroup);
  return std::make_shared<const User>(std::move(user));
}

std::optional<Authentication> FrontProxyAuthenticator::TryAuthenticate(
    const http::Request& request) {
  if (request.connection == nullptr || request.connection->peer == nullptr) {
    return Authentication{};
  }
  const auto& memo =
      Judged(*trust_, *request.connection->peer, ConnectionMemo::Of(request)->front_proxy);
  if (!memo.user) return Authentication{.error = Error{ErrorCode::kDenied, memo.error}};
  const auto& allowed = options_.allowed_names;
  if (!allowed.empty() && std::ranges::find(allowed, memo.user->name) == allowed.end()) {
    return Authentication{
        .error = Error{
            ErrorCode::kDenied,
            fmt::format("x509: subject with cn={} is not in the allowed list", memo.user->name)}};
  }
  return Authentication{.user = UserOfHeaders(request.headers)};
}

}  // namespace keelson::auth
