#include "crypto/verify.h"

#include <fmt/chrono.h>

#include <set>

#include "crypto/openssl.h"
#include "crypto/pem.h"

namespace keelson::crypto {
namespace {

using OwnedStore = Owned<X509_STORE, X509_STORE_free>;
using OwnedStoreContext = Owned<X509_STORE_CTX, X509_STORE_CTX_free>;

void FreeStack(STACK_OF(X509) * stack) { sk_X509_pop_free(stack, X509_free); }
using OwnedStack = Owned<STACK_OF(X509), FreeStack>;

constexpr size_t kMaxChain = 32;
constexpr int kMaxDepth = 10;
// 80 bits: refuses MD5 and SHA-1 signatures and RSA keys below 1024 bits, as Go does.
constexpr int kSecurityLevel = 1;

std::string Rfc3339(CertificateTime time) { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", time); }

std::unexpected<Error> Describe(int error, X509* at, CertificateTime now) {
  auto parsed = at == nullptr ? Result<Certificate>(Fail(ErrorCode::kInvalid, ""))
                              : ParseCertificate(ToDer<X509>(i2d_X509, at));
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      if (parsed && error == X509_V_ERR_CERT_HAS_EXPIRED) {
        return Fail(
            ErrorCode::kDenied,
            "x509: certificate has expired or is not yet valid: current time {} is after {}",
            Rfc3339(now), Rfc3339(parsed->not_after));
      }
      if (parsed) {
        return Fail(
            ErrorCode::kDenied,
            "x509: certificate has expired or is not yet valid: current time {} is before {}",
            Rfc3339(now), Rfc3339(parsed->not_before));
      }
      break;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return Fail(ErrorCode::kDenied, "x509: certificate signed by unknown authority");
    case X509_V_ERR_INVALID_PURPOSE:
      return Fail(ErrorCode::kDenied, "x509: certificate specifies an incompatible key usage");
    default:
      break;
  }
  return Fail(ErrorCode::kDenied, "x509: {}", X509_verify_cert_error_string(error));
}

}  // namespace

Result<TrustBundle> TrustBundle::FromPem(std::string_view pem) {
  TRY(auto ders, CertificateDersFromPem(pem));
  OwnedStore store(X509_STORE_new());
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  std::vector<std::string> subjects;
  std::set<std::string_view> seen;  // a bundle may well hold one twice
  for (const auto& der : ders) {
    if (!seen.insert(der).second) continue;
    TRY(auto parsed, ParseCertificate(der));
    TRY(auto x509, DecodeCertificate(der));
    if (X509_STORE_add_cert(store.get(), x509.get()) != 1) {
      return FailOpenssl(ErrorCode::kInvalid, "adding a CA certificate");
    }
    subjects.push_back(ToDer<X509_NAME>(i2d_X509_NAME, X509_get_subject_name(x509.get())));
  }
  return TrustBundle(std::shared_ptr<X509_STORE>(store.release(), X509_STORE_free),
                     std::move(subjects));
}

Result<TrustBundle> TrustBundle::FromFile(const std::string& path) {
  TRY(auto text, ReadPemFile(path));
  auto bundle = FromPem(text);
  if (!bundle) return Annotate(bundle.error(), path);
  return bundle;
}

Result<void> TrustBundle::Verify(std::span<const std::string> chain, ExtendedKeyUsage usage,
                                 CertificateTime now) const {
  if (chain.empty()) return Fail(ErrorCode::kDenied, "no certificate");
  if (chain.size() > kMaxChain) return Fail(ErrorCode::kTooLarge, "chain of {}", chain.size());
  TRY(auto leaf, DecodeCertificate(chain.front()));
  OwnedStack others(sk_X509_new_null());
  for (const auto& der : chain.subspan(1)) {
    TRY(auto x509, DecodeCertificate(der));
    sk_X509_push(others.get(), x509.release());
  }

  OwnedStoreContext context(X509_STORE_CTX_new());
  if (X509_STORE_CTX_init(context.get(), store_.get(), leaf.get(), others.get()) != 1) {
    return FailOpenssl(ErrorCode::kInternal, "certificate verification");
  }
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(parameters, now.time_since_epoch().count());
  X509_VERIFY_PARAM_set_depth(parameters, kMaxDepth);
  X509_VERIFY_PARAM_set_auth_level(parameters, kSecurityLevel);
  if (usage == ExtendedKeyUsage::kClientAuth || usage == ExtendedKeyUsage::kServerAuth) {
    X509_VERIFY_PARAM_set_purpose(parameters, usage == ExtendedKeyUsage::kClientAuth
                                                  ? X509_PURPOSE_SSL_CLIENT
                                                  : X509_PURPOSE_SSL_SERVER);
  }
  if (X509_verify_cert(context.get()) == 1) return {};
  auto failure = Describe(X509_STORE_CTX_get_error(context.get()),
                          X509_STORE_CTX_get_current_cert(context.get()), now);
  (void)FailOpenssl(ErrorCode::kDenied, "");
  return failure;
}

}  // namespace keelson::crypto
