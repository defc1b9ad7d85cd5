#include "net/testing/certificates.h"

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/ids.h"
#include "net/openssl_ptr.h"

namespace keelson::net::testing {
namespace {

KeyPtr NewKey() { return KeyPtr(EVP_EC_gen("P-256")); }

void AddExtension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  KEELSON_CHECK(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509Ptr NewCertificate(const std::string& common_name, EVP_PKEY* key) {
  X509Ptr certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), RandomUint64() >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86400);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  X509_set_pubkey(certificate.get(), key);
  return certificate;
}

template <typename Write>
std::string ToPem(Write write) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  write(bio.get());
  char* bytes = nullptr;
  long size = BIO_get_mem_data(bio.get(), &bytes);
  return std::string(bytes, static_cast<size_t>(size));
}

std::string AlternativeName(const std::string& name) {
  unsigned char buffer[16];
  bool address = inet_pton(AF_INET, name.c_str(), buffer) == 1 ||
                 inet_pton(AF_INET6, name.c_str(), buffer) == 1;
  return (address ? "IP:" : "DNS:") + name;
}

}  // namespace

struct TestCa::Keys {
  KeyPtr key = NewKey();
  X509Ptr certificate;
};

TestCa::TestCa(const std::string& name) : keys_(std::make_unique<Keys>()) {
  keys_->certificate = NewCertificate(name, keys_->key.get());
  X509* certificate = keys_->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  AddExtension(certificate, certificate, NID_subject_key_identifier, "hash");
  X509_sign(certificate, keys_->key.get(), EVP_sha256());
  pem_ = ToPem([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); });
}

TestCa::~TestCa() = default;

TlsKeyPair TestCa::Issue(const std::string& common_name,
                         const std::vector<std::string>& names) const {
  auto key = NewKey();
  auto certificate = NewCertificate(common_name, key.get());
  X509* issuer = keys_->certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer));
  AddExtension(certificate.get(), issuer, NID_key_usage, "critical,digitalSignature");
  AddExtension(certificate.get(), issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  std::string alternatives;
  for (const auto& name : names) {
    alternatives += (alternatives.empty() ? "" : ",") + AlternativeName(name);
  }
  if (!alternatives.empty()) {
    AddExtension(certificate.get(), issuer, NID_subject_alt_name, alternatives);
  }
  X509_sign(certificate.get(), keys_->key.get(), EVP_sha256());
  TlsKeyPair pair;
  pair.certificate_pem = ToPem([&](BIO* bio) { PEM_write_bio_X509(bio, certificate.get()); });
  pair.key_pem = ToPem([&](BIO* bio) {
    PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return pair;
}

}  // namespace keelson::net::testing
