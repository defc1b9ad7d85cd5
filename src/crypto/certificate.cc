#include "crypto/certificate.h"

#include <arpa/inet.h>
#include <time.h>

#include <algorithm>

#include "crypto/digest.h"
#include "crypto/openssl.h"
#include "crypto/pem.h"
#include "crypto/x509_name.h"

namespace keelson::crypto {
namespace {

using OwnedNames = Owned<GENERAL_NAMES, GENERAL_NAMES_free>;
using OwnedUsages = Owned<EXTENDED_KEY_USAGE, EXTENDED_KEY_USAGE_free>;
using OwnedBits = Owned<ASN1_BIT_STRING, ASN1_BIT_STRING_free>;
using OwnedConstraints = Owned<BASIC_CONSTRAINTS, BASIC_CONSTRAINTS_free>;

std::string_view View(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

Result<CertificateTime> ReadTime(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return FailOpenssl(ErrorCode::kInvalid, "malformed validity");
  }
  return CertificateTime(std::chrono::seconds(::timegm(&parts)));
}

// Decodes one extension. Null when absent; kInvalid when malformed or there twice, because two
// readers could then believe different things.
template <typename T>
Result<T> ReadExtension(const X509* certificate, int nid) {
  int critical = 0;
  auto* raw = static_cast<typename T::element_type*>(
      X509_get_ext_d2i(certificate, nid, &critical, nullptr));
  if (raw == nullptr && critical != -1) {
    return FailOpenssl(ErrorCode::kInvalid,
                       critical == -2 ? "duplicate extension" : "malformed extension");
  }
  return T(raw);
}

Result<std::string> AddressText(std::string_view bytes) {
  char text[INET6_ADDRSTRLEN];
  int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (bytes.size() != 4 && bytes.size() != 16) {
    return Fail(ErrorCode::kInvalid, "IP address of {} bytes in certificate", bytes.size());
  }
  ::inet_ntop(family, bytes.data(), text, sizeof text);
  return std::string(text);
}

Result<void> ReadAlternativeNames(const X509* x509, Certificate& out) {
  TRY(auto names, ReadExtension<OwnedNames>(x509, NID_subject_alt_name));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    switch (name->type) {
      case GEN_DNS:
        out.dns_names.emplace_back(View(name->d.dNSName));
        break;
      case GEN_EMAIL:
        out.email_addresses.emplace_back(View(name->d.rfc822Name));
        break;
      case GEN_URI:
        out.uris.emplace_back(View(name->d.uniformResourceIdentifier));
        break;
      case GEN_IPADD: {
        TRY(auto address, AddressText(View(name->d.iPAddress)));
        out.ip_addresses.push_back(std::move(address));
        break;
      }
      default:
        break;
    }
  }
  return {};
}

Result<void> ReadUsages(const X509* x509, Certificate& out) {
  TRY(auto bits, ReadExtension<OwnedBits>(x509, NID_key_usage));
  out.has_key_usage = bits != nullptr;
  for (int bit = 0; bits && bit < 9; ++bit) {
    if (ASN1_BIT_STRING_get_bit(bits.get(), bit)) out.key_usage |= static_cast<uint16_t>(1 << bit);
  }
  TRY(auto usages, ReadExtension<OwnedUsages>(x509, NID_ext_key_usage));
  for (int i = 0; i < sk_ASN1_OBJECT_num(usages.get()); ++i) {
    switch (OBJ_obj2nid(sk_ASN1_OBJECT_value(usages.get(), i))) {
      case NID_anyExtendedKeyUsage:
        out.extended_key_usages.push_back(ExtendedKeyUsage::kAny);
        break;
      case NID_server_auth:
        out.extended_key_usages.push_back(ExtendedKeyUsage::kServerAuth);
        break;
      case NID_client_auth:
        out.extended_key_usages.push_back(ExtendedKeyUsage::kClientAuth);
        break;
      default:
        out.extended_key_usages.push_back(ExtendedKeyUsage::kOther);
    }
  }
  TRY(auto constraints, ReadExtension<OwnedConstraints>(x509, NID_basic_constraints));
  out.is_ca = constraints && constraints->ca != 0;
  return {};
}

Result<std::string> ReadSerial(const X509* x509) {
  const ASN1_INTEGER* serial = X509_get0_serialNumber(x509);
  if ((ASN1_STRING_type(serial) & V_ASN1_NEG) != 0) {
    return Fail(ErrorCode::kInvalid, "negative serial number");
  }
  auto bytes = View(serial);
  return HexEncode(bytes.empty() ? std::string_view("\0", 1) : bytes);
}

bool EqualFold(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool MatchesName(std::string_view pattern, std::string_view host) {
  if (!pattern.starts_with("*.")) return EqualFold(pattern, host);
  size_t dot = host.find('.');
  // The star stands for exactly one whole label.
  return dot != std::string_view::npos && dot > 0 && EqualFold(pattern.substr(1), host.substr(dot));
}

}  // namespace

bool Certificate::Covers(std::string_view host) const {
  unsigned char address[16];
  std::string text(host);
  for (int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, text.c_str(), address) != 1) continue;
    char canonical[INET6_ADDRSTRLEN];
    ::inet_ntop(family, address, canonical, sizeof canonical);
    return std::ranges::find(ip_addresses, canonical) != ip_addresses.end();
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty()) return false;
  return std::ranges::any_of(dns_names, [&](const auto& name) { return MatchesName(name, host); });
}

Result<Certificate> ParseCertificate(std::string_view der) {
  if (der.size() > kMaxCertificateSize) {
    return Fail(ErrorCode::kTooLarge, "certificate of {} bytes", der.size());
  }
  TRY(auto x509, DecodeCertificate(der));
  Certificate out;
  TRY(out.serial, ReadSerial(x509.get()));
  TRY(out.subject, ReadName(X509_get_subject_name(x509.get())));
  TRY(out.issuer, ReadName(X509_get_issuer_name(x509.get())));
  TRY(out.not_before, ReadTime(X509_get0_notBefore(x509.get())));
  TRY(out.not_after, ReadTime(X509_get0_notAfter(x509.get())));
  TRY_VOID(ReadAlternativeNames(x509.get(), out));
  TRY_VOID(ReadUsages(x509.get(), out));
  out.public_key_der = ToDer<X509_PUBKEY>(i2d_X509_PUBKEY, X509_get_X509_PUBKEY(x509.get()));
  out.fingerprint = Digest(Hash::kSha256, der);
  return out;
}

Result<std::vector<std::string>> CertificateDersFromPem(std::string_view pem) {
  TRY(auto blocks, ParsePem(pem));
  std::vector<std::string> ders;
  for (auto& block : blocks) {
    if (block.type == "CERTIFICATE") ders.push_back(std::move(block.der));
  }
  if (ders.empty()) {
    return Fail(ErrorCode::kNotFound, "data does not contain any valid RSA or ECDSA certificates");
  }
  return ders;
}

std::string CertificateToPem(std::string_view der) { return EncodePem("CERTIFICATE", der); }

}  // namespace keelson::crypto
