#include "crypto/issue.h"

#include <arpa/inet.h>

#include "base/ids.h"
#include "crypto/openssl.h"
#include "crypto/pem.h"

namespace keelson::crypto {
namespace {

using OwnedExtension = Owned<X509_EXTENSION, X509_EXTENSION_free>;
using OwnedNames = Owned<GENERAL_NAMES, GENERAL_NAMES_free>;

Result<void> SetSerial(X509* x509, std::string serial) {
  if (serial.size() > 20) return Fail(ErrorCode::kInvalid, "serial number over 20 bytes");
  if (serial.empty()) {
    serial.resize(8);
    RandomBytes({AsBytes(serial), serial.size()});
    serial[0] = static_cast<char>((serial[0] & 0x7f) | 0x40);  // positive, never zero
  }
  OwnedNumber number(BN_bin2bn(AsBytes(serial), static_cast<int>(serial.size()), nullptr));
  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(x509));
  return {};
}

Result<void> SetSubject(X509* x509, const CertificateRequest& request) {
  X509_NAME* name = X509_get_subject_name(x509);
  auto add = [&](int nid, std::string_view value) {
    return X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8, AsBytes(value),
                                      static_cast<int>(value.size()), -1, 0) == 1;
  };
  bool ok = true;
  for (const auto& organization : request.organizations) {
    ok = ok && add(NID_organizationName, organization);
  }
  if (!request.common_name.empty()) ok = ok && add(NID_commonName, request.common_name);
  if (!ok) return FailOpenssl(ErrorCode::kInvalid, "certificate subject");
  return {};
}

Result<void> AddExtension(X509* x509, int nid, void* value, bool critical) {
  if (X509_add1_ext_i2d(x509, nid, value, critical ? 1 : 0, X509V3_ADD_DEFAULT) != 1) {
    return FailOpenssl(ErrorCode::kInvalid, "certificate extension");
  }
  return {};
}

std::string AddressBytes(const std::string& address) {
  std::string bytes(16, '\0');
  if (::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return bytes.substr(0, 4);
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return bytes;
  return {};
}

Result<void> AddAlternativeNames(X509* x509, const CertificateRequest& request) {
  if (request.dns_names.empty() && request.ip_addresses.empty()) return {};
  OwnedNames names(sk_GENERAL_NAME_new_null());
  auto add = [&](int type, std::string_view bytes) {
    ASN1_STRING* text = type == GEN_DNS ? ASN1_IA5STRING_new()
                                        : reinterpret_cast<ASN1_STRING*>(ASN1_OCTET_STRING_new());
    ASN1_STRING_set(text, bytes.data(), static_cast<int>(bytes.size()));
    GENERAL_NAME* name = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(name, type, text);
    sk_GENERAL_NAME_push(names.get(), name);
  };
  for (const auto& dns_name : request.dns_names) add(GEN_DNS, dns_name);
  for (const auto& address : request.ip_addresses) {
    auto bytes = AddressBytes(address);
    if (bytes.empty()) return Fail(ErrorCode::kInvalid, "{} is not an IP address", address);
    add(GEN_IPADD, bytes);
  }
  return AddExtension(x509, NID_subject_alt_name, names.get(), false);
}

Result<void> AddUsages(X509* x509, const CertificateRequest& request, bool is_ca) {
  Owned<ASN1_BIT_STRING, ASN1_BIT_STRING_free> bits(ASN1_BIT_STRING_new());
  for (int bit = 0; bit < 9; ++bit) {
    if ((request.key_usage >> bit & 1) != 0) ASN1_BIT_STRING_set_bit(bits.get(), bit, 1);
  }
  TRY_VOID(AddExtension(x509, NID_key_usage, bits.get(), true));

  if (!request.extended_key_usages.empty()) {
    Owned<EXTENDED_KEY_USAGE, EXTENDED_KEY_USAGE_free> usages(EXTENDED_KEY_USAGE_new());
    for (auto usage : request.extended_key_usages) {
      int nid = usage == ExtendedKeyUsage::kServerAuth   ? NID_server_auth
                : usage == ExtendedKeyUsage::kClientAuth ? NID_client_auth
                : usage == ExtendedKeyUsage::kAny        ? NID_anyExtendedKeyUsage
                                                         : NID_code_sign;
      sk_ASN1_OBJECT_push(usages.get(), OBJ_nid2obj(nid));
    }
    TRY_VOID(AddExtension(x509, NID_ext_key_usage, usages.get(), false));
  }

  Owned<BASIC_CONSTRAINTS, BASIC_CONSTRAINTS_free> constraints(BASIC_CONSTRAINTS_new());
  constraints->ca = is_ca ? 0xff : 0;
  return AddExtension(x509, NID_basic_constraints, constraints.get(), true);
}

// The key identifiers let verifiers pick the right issuer among several of one name.
Result<void> AddKeyIdentifiers(X509* x509, X509* issuer, bool is_ca) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, x509, nullptr, nullptr, 0);
  for (auto [nid, value, wanted] : {std::tuple(NID_subject_key_identifier, "hash", is_ca),
                                    std::tuple(NID_authority_key_identifier, "keyid", true)}) {
    if (!wanted) continue;
    OwnedExtension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
    if (!extension || X509_add_ext(x509, extension.get(), -1) != 1) {
      return FailOpenssl(ErrorCode::kInternal, "certificate key identifier");
    }
  }
  return {};
}

void SetTime(ASN1_TIME* time, CertificateTime when) {
  ASN1_TIME_adj(time, when.time_since_epoch().count(), 0, 0);
}

// A certificate for `key`, signed by `signer`. Without an issuer it is self-signed.
Result<std::string> Make(const CertificateRequest& request, EVP_PKEY* key, X509* issuer,
                         EVP_PKEY* signer, bool is_ca) {
  OwnedCertificate x509(X509_new());
  X509_set_version(x509.get(), X509_VERSION_3);
  X509_set_pubkey(x509.get(), key);
  TRY_VOID(SetSerial(x509.get(), request.serial));
  TRY_VOID(SetSubject(x509.get(), request));
  SetTime(X509_getm_notBefore(x509.get()), request.not_before);
  SetTime(X509_getm_notAfter(x509.get()), request.not_after);
  X509* authority = issuer == nullptr ? x509.get() : issuer;
  X509_set_issuer_name(x509.get(), X509_get_subject_name(authority));
  TRY_VOID(AddUsages(x509.get(), request, is_ca));
  TRY_VOID(AddKeyIdentifiers(x509.get(), authority, is_ca));
  TRY_VOID(AddAlternativeNames(x509.get(), request));
  const EVP_MD* hash = EVP_PKEY_get_base_id(signer) == EVP_PKEY_ED25519 ? nullptr : EVP_sha256();
  if (X509_sign(x509.get(), signer, hash) == 0) {
    return FailOpenssl(ErrorCode::kInternal, "signing a certificate");
  }
  return ToDer<X509>(i2d_X509, x509.get());
}

}  // namespace

Result<CertificateAuthority> CertificateAuthority::Create(CertificateRequest request) {
  TRY(auto key, PrivateKey::Generate(KeyKind::kP256));
  return Create(std::move(request), std::move(key));
}

Result<CertificateAuthority> CertificateAuthority::Create(CertificateRequest request,
                                                          PrivateKey key) {
  request.key_usage |= kCertSign;
  TRY(auto der, Make(request, key.native(), nullptr, key.native(), true));
  return CertificateAuthority(std::move(der), std::move(key));
}

Result<CertificateAuthority> CertificateAuthority::Load(std::string_view certificate_pem,
                                                        PrivateKey key) {
  TRY(auto ders, CertificateDersFromPem(certificate_pem));
  TRY(auto parsed, ParseCertificate(ders.front()));
  if (!parsed.is_ca) return Fail(ErrorCode::kInvalid, "certificate is not a CA");
  if (parsed.public_key_der != key.Public().ToDer()) {
    return Fail(ErrorCode::kInvalid, "private key does not match the CA certificate");
  }
  return CertificateAuthority(std::move(ders.front()), std::move(key));
}

Result<std::string> CertificateAuthority::Issue(const CertificateRequest& request,
                                                const PublicKey& key) const {
  TRY(auto issuer, DecodeCertificate(der_));
  return Make(request, key.native(), issuer.get(), key_.native(), false);
}

Result<CertificateAuthority> CertificateAuthority::Subordinate(CertificateRequest request) const {
  TRY(auto key, PrivateKey::Generate(KeyKind::kP256));
  TRY(auto issuer, DecodeCertificate(der_));
  request.key_usage |= kCertSign;
  TRY(auto der, Make(request, key.native(), issuer.get(), key_.native(), true));
  return CertificateAuthority(std::move(der), std::move(key));
}

}  // namespace keelson::crypto
