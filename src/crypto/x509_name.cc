#include "crypto/x509_name.h"

namespace keelson::crypto {
namespace {

constexpr char kUserIdOid[] = "1.3.6.1.4.1.57683.2";

Result<std::string> Utf8(const ASN1_STRING* text) {
  unsigned char* raw = nullptr;
  int size = ASN1_STRING_to_UTF8(&raw, text);
  if (size < 0) return FailOpenssl(ErrorCode::kInvalid, "malformed name");
  std::string out(reinterpret_cast<char*>(raw), static_cast<size_t>(size));
  OPENSSL_free(raw);
  return out;
}

std::string NameText(const X509_NAME* name) {
  Owned<BIO, BIO_free> bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* data = nullptr;
  long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

}  // namespace

Result<DistinguishedName> ReadName(const X509_NAME* name) {
  DistinguishedName out;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const ASN1_OBJECT* object = X509_NAME_ENTRY_get_object(entry);
    TRY(auto value, Utf8(X509_NAME_ENTRY_get_data(entry)));
    switch (OBJ_obj2nid(object)) {
      case NID_commonName:
        out.common_name = std::move(value);
        break;
      case NID_organizationName:
        out.organizations.push_back(std::move(value));
        break;
      case NID_organizationalUnitName:
        out.organizational_units.push_back(std::move(value));
        break;
      default:
        char oid[sizeof kUserIdOid + 1];
        if (OBJ_obj2txt(oid, sizeof oid, object, 1) == sizeof kUserIdOid - 1 &&
            std::string_view(oid) == kUserIdOid) {
          out.uids.push_back(std::move(value));
        }
    }
  }
  out.text = NameText(name);
  return out;
}

}  // namespace keelson::crypto
