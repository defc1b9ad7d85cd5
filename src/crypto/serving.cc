// SelfSignedServing: the pair a server makes for itself when it was given none.

#include <arpa/inet.h>
#include <unistd.h>

#include "base/log.h"
#include "crypto/issue.h"
#include "crypto/pem.h"

namespace keelson::crypto {
namespace {

constexpr auto kClockSkew = std::chrono::hours(1);
constexpr auto kValidity = std::chrono::hours(24 * 365);

bool IsAddress(const std::string& host) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

bool IsUnspecified(const std::string& address) {
  return address.empty() || address == "0.0.0.0" || address == "::";
}

bool Readable(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

Result<ServingPair> Generate(const SelfSignedOptions& options) {
  auto epoch = options.now.time_since_epoch().count();
  CertificateRequest authority;
  authority.common_name = fmt::format("{}-ca@{}", options.public_address, epoch);
  authority.not_before = options.now - kClockSkew;
  authority.not_after = authority.not_before + kValidity;

  CertificateRequest serving;
  serving.common_name = fmt::format("{}@{}", options.public_address, epoch);
  serving.not_before = authority.not_before;
  serving.not_after = authority.not_after;
  serving.extended_key_usages = {ExtendedKeyUsage::kServerAuth};
  // A machine without a network has no public address.
  if (!options.public_address.empty()) {
    auto& names = IsAddress(options.public_address) ? serving.ip_addresses : serving.dns_names;
    names.push_back(options.public_address);
  }
  for (const auto& address : options.alternate_ips) serving.ip_addresses.push_back(address);
  for (const auto& name : options.alternate_dns) serving.dns_names.push_back(name);
  if (IsUnspecified(options.bind_address)) {
    serving.dns_names.push_back("localhost");
    serving.ip_addresses.insert(serving.ip_addresses.end(), {"127.0.0.1", "::1"});
  } else {
    serving.ip_addresses.push_back(options.bind_address);
  }

  TRY(auto ca, CertificateAuthority::Create(std::move(authority)));
  TRY(auto key, PrivateKey::Generate(KeyKind::kP256));
  TRY(auto der, ca.Issue(serving, key.Public()));
  ServingPair pair;
  pair.certificate_pem = CertificateToPem(der) + CertificateToPem(ca.der());
  pair.key_pem = key.ToPem();
  pair.generated = true;
  return pair;
}

}  // namespace

Result<ServingPair> SelfSignedServing(const SelfSignedOptions& options) {
  if (options.cert_dir.empty()) {
    TRY(auto pair, Generate(options));
    log::Info("Generated self-signed cert in-memory");
    return pair;
  }
  auto certificate_file = fmt::format("{}/{}.crt", options.cert_dir, options.pair_name);
  auto key_file = fmt::format("{}/{}.key", options.cert_dir, options.pair_name);
  bool certificate_there = Readable(certificate_file);
  bool key_there = Readable(key_file);
  if (certificate_there != key_there) {
    return Fail(ErrorCode::kInvalid,
                "error reading {}, certificate and key must be supplied as a pair",
                certificate_there ? key_file : certificate_file);
  }
  ServingPair pair;
  if (certificate_there) {
    TRY(pair.certificate_pem, ReadPemFile(certificate_file));
    TRY(pair.key_pem, ReadPemFile(key_file));
  } else {
    TRY(pair, Generate(options));
    TRY_VOID(WriteFileAtomically(certificate_file, pair.certificate_pem, FileAccess::kPublic));
    TRY_VOID(WriteFileAtomically(key_file, pair.key_pem, FileAccess::kSecret));
    log::Info("Generated self-signed cert ({}, {})", certificate_file, key_file);
  }
  pair.certificate_file = std::move(certificate_file);
  pair.key_file = std::move(key_file);
  return pair;
}

}  // namespace keelson::crypto
