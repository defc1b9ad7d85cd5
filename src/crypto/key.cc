#include "crypto/key.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <array>

#include "crypto/certificate.h"
#include "crypto/openssl.h"
#include "crypto/pem.h"

namespace keelson::crypto {
namespace {

enum class Family : uint8_t { kPkcs1, kPss, kEcdsa };

struct AlgorithmRow {
  std::string_view name;
  Family family;
  const char* hash;
  KeyKind curve;        // of the ES family: the one curve the algorithm is defined for
  size_t number_bytes;  // of r and of s
};

constexpr std::array<AlgorithmRow, 9> kAlgorithms = {{
    {"RS256", Family::kPkcs1, "SHA256", KeyKind::kRsa, 0},
    {"RS384", Family::kPkcs1, "SHA384", KeyKind::kRsa, 0},
    {"RS512", Family::kPkcs1, "SHA512", KeyKind::kRsa, 0},
    {"PS256", Family::kPss, "SHA256", KeyKind::kRsa, 0},
    {"PS384", Family::kPss, "SHA384", KeyKind::kRsa, 0},
    {"PS512", Family::kPss, "SHA512", KeyKind::kRsa, 0},
    {"ES256", Family::kEcdsa, "SHA256", KeyKind::kP256, 32},
    {"ES384", Family::kEcdsa, "SHA384", KeyKind::kP384, 48},
    {"ES512", Family::kEcdsa, "SHA512", KeyKind::kP521, 66},
}};

const AlgorithmRow& Row(SignatureAlgorithm algorithm) {
  return kAlgorithms[static_cast<size_t>(algorithm)];
}

constexpr int kMinRsaBits = 1024;   // below, a key is forgeable at home
constexpr int kMaxRsaBits = 16384;  // above, one verification is a denial of service

Result<KeyKind> KindOf(EVP_PKEY* key) {
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_RSA: {
      int bits = EVP_PKEY_get_bits(key);
      if (bits < kMinRsaBits || bits > kMaxRsaBits) {
        return Fail(ErrorCode::kUnsupported, "RSA key of {} bits", bits);
      }
      return KeyKind::kRsa;
    }
    case EVP_PKEY_ED25519:
      return KeyKind::kEd25519;
    case EVP_PKEY_EC: {
      char group[32] = {};
      size_t length = 0;
      EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, group, sizeof group, &length);
      std::string_view name(group, length);
      if (name == "prime256v1") return KeyKind::kP256;
      if (name == "secp384r1") return KeyKind::kP384;
      if (name == "secp521r1") return KeyKind::kP521;
      return Fail(ErrorCode::kUnsupported, "elliptic curve {}", name);
    }
    default:
      return Fail(ErrorCode::kUnsupported, "key type is neither RSA nor ECDSA");
  }
}

std::shared_ptr<EVP_PKEY> Share(OwnedKey key) { return {key.release(), EVP_PKEY_free}; }

std::string Number(const EVP_PKEY* key, const char* name, size_t width = 0) {
  BIGNUM* raw = nullptr;
  KEELSON_CHECK(EVP_PKEY_get_bn_param(key, name, &raw) == 1);
  OwnedNumber number(raw);
  std::string out(std::max(width, static_cast<size_t>(BN_num_bytes(raw))), '\0');
  KEELSON_CHECK(BN_bn2binpad(raw, AsBytes(out), static_cast<int>(out.size())) >= 0);
  return out;
}

bool SetPadding(EVP_PKEY_CTX* context, Family family) {
  if (family != Family::kPss) return true;
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

std::string JoseFromDer(std::string_view der, size_t width) {
  const unsigned char* in = AsBytes(der);
  OwnedSignature signature(d2i_ECDSA_SIG(nullptr, &in, static_cast<long>(der.size())));
  KEELSON_CHECK(signature != nullptr);
  std::string out(2 * width, '\0');
  int n = static_cast<int>(width);
  KEELSON_CHECK(BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), AsBytes(out), n) == n);
  KEELSON_CHECK(BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), AsBytes(out) + width, n) == n);
  return out;
}

std::string DerFromJose(std::string_view jose, size_t width) {
  OwnedSignature signature(ECDSA_SIG_new());
  int n = static_cast<int>(width);
  BIGNUM* r = BN_bin2bn(AsBytes(jose), n, nullptr);
  BIGNUM* s = BN_bin2bn(AsBytes(jose) + width, n, nullptr);
  ECDSA_SIG_set0(signature.get(), r, s);
  return ToDer<ECDSA_SIG>(i2d_ECDSA_SIG, signature.get());
}

// One DER private key in the form its PEM label names. Not a private key label: null.
OwnedKey DecodePrivate(const PemBlock& block) {
  const unsigned char* in = AsBytes(block.der);
  auto size = static_cast<long>(block.der.size());
  if (block.type == "PRIVATE KEY") return OwnedKey(d2i_AutoPrivateKey(nullptr, &in, size));
  if (block.type == "RSA PRIVATE KEY") {
    return OwnedKey(d2i_PrivateKey(EVP_PKEY_RSA, nullptr, &in, size));
  }
  if (block.type == "EC PRIVATE KEY") {
    return OwnedKey(d2i_PrivateKey(EVP_PKEY_EC, nullptr, &in, size));
  }
  return nullptr;
}

bool IsPrivateLabel(std::string_view type) {
  return type == "PRIVATE KEY" || type == "RSA PRIVATE KEY" || type == "EC PRIVATE KEY";
}

}  // namespace

// Takes a reference of its own to `key`.
Result<PublicKey> AdoptPublicKey(evp_pkey_st* key) {
  TRY(auto kind, KindOf(key));
  EVP_PKEY_up_ref(key);
  return PublicKey(Share(OwnedKey(key)), kind);
}

std::string_view SignatureAlgorithmName(SignatureAlgorithm algorithm) {
  return Row(algorithm).name;
}

Result<SignatureAlgorithm> ParseSignatureAlgorithm(std::string_view name) {
  auto row = std::ranges::find(kAlgorithms, name, &AlgorithmRow::name);
  if (row == kAlgorithms.end()) {
    return Fail(ErrorCode::kUnsupported, "unsupported signing algorithm {}", name);
  }
  return static_cast<SignatureAlgorithm>(row - kAlgorithms.begin());
}

Result<PublicKey> PublicKey::FromDer(std::string_view der) {
  const unsigned char* in = AsBytes(der);
  OwnedKey key(d2i_PUBKEY(nullptr, &in, static_cast<long>(der.size())));
  if (!key) return FailOpenssl(ErrorCode::kInvalid, "malformed public key");
  return AdoptPublicKey(key.get());
}

Result<PublicKey> PublicKey::FromNumbers(KeyKind kind, const KeyNumbers& numbers) {
  using OwnedBuilder = Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
  using OwnedParameters = Owned<OSSL_PARAM, OSSL_PARAM_free>;
  constexpr size_t kMinRsaBytes = 128;
  constexpr size_t kMaxRsaBytes = 2048;
  constexpr size_t kMaxExponentBytes = 8;
  OwnedBuilder builder(OSSL_PARAM_BLD_new());
  OwnedNumber n;
  OwnedNumber e;
  std::string point;
  if (kind == KeyKind::kRsa) {
    if (numbers.n.size() < kMinRsaBytes || numbers.n.size() > kMaxRsaBytes || numbers.e.empty() ||
        numbers.e.size() > kMaxExponentBytes) {
      return Fail(ErrorCode::kInvalid, "an RSA key of a size that is not accepted");
    }
    n.reset(BN_bin2bn(AsBytes(numbers.n), static_cast<int>(numbers.n.size()), nullptr));
    e.reset(BN_bin2bn(AsBytes(numbers.e), static_cast<int>(numbers.e.size()), nullptr));
    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  } else {
    const auto [group, width] = kind == KeyKind::kP256   ? std::pair("P-256", size_t{32})
                                : kind == KeyKind::kP384 ? std::pair("P-384", size_t{48})
                                                         : std::pair("P-521", size_t{66});
    if (kind == KeyKind::kEd25519 || numbers.x.size() != width || numbers.y.size() != width) {
      return Fail(ErrorCode::kInvalid, "not the coordinates of a point on {}", group);
    }
    point = "\x04" + numbers.x + numbers.y;
    OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, group, 0);
    OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                     point.size());
  }
  OwnedParameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  OwnedKeyContext context(
      EVP_PKEY_CTX_new_from_name(nullptr, kind == KeyKind::kRsa ? "RSA" : "EC", nullptr));
  EVP_PKEY* made = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    return FailOpenssl(ErrorCode::kInvalid, "public key numbers");
  }
  OwnedKey key(made);
  return AdoptPublicKey(key.get());
}

std::string PublicKey::ToDer() const { return crypto::ToDer<EVP_PKEY>(i2d_PUBKEY, key_.get()); }

std::string PublicKey::ToPem() const { return EncodePem("PUBLIC KEY", ToDer()); }

KeyNumbers PublicKey::Numbers() const {
  auto curve = [&](size_t width) {
    return KeyNumbers{.n = {},
                      .e = {},
                      .x = Number(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X, width),
                      .y = Number(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y, width)};
  };
  switch (kind_) {
    case KeyKind::kRsa:
      return {.n = Number(key_.get(), OSSL_PKEY_PARAM_RSA_N),
              .e = Number(key_.get(), OSSL_PKEY_PARAM_RSA_E),
              .x = {},
              .y = {}};
    case KeyKind::kP256:
      return curve(32);
    case KeyKind::kP384:
      return curve(48);
    case KeyKind::kP521:
      return curve(66);
    case KeyKind::kEd25519:
      break;
  }
  KeyNumbers numbers;
  numbers.x.resize(32);
  size_t size = numbers.x.size();
  KEELSON_CHECK(EVP_PKEY_get_raw_public_key(key_.get(), AsBytes(numbers.x), &size) == 1);
  return numbers;
}

bool PublicKey::Verify(SignatureAlgorithm algorithm, std::string_view message,
                       std::string_view signature) const {
  const auto& row = Row(algorithm);
  if (kind_ != row.curve) return false;
  std::string der;
  if (row.family == Family::kEcdsa) {
    if (signature.size() != 2 * row.number_bytes) return false;
    der = DerFromJose(signature, row.number_bytes);
    signature = der;
  }
  OwnedDigestContext context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* key_context = nullptr;
  bool ok = EVP_DigestVerifyInit_ex(context.get(), &key_context, row.hash, nullptr, nullptr,
                                    key_.get(), nullptr) == 1 &&
            SetPadding(key_context, row.family) &&
            EVP_DigestVerify(context.get(), AsBytes(signature), signature.size(), AsBytes(message),
                             message.size()) == 1;
  if (!ok) (void)FailOpenssl(ErrorCode::kDenied, "");  // leaves no error behind for others
  return ok;
}

Result<PrivateKey> PrivateKey::Generate(KeyKind kind, int rsa_bits) {
  OwnedKey key;
  switch (kind) {
    case KeyKind::kRsa:
      if (rsa_bits < 2048 || rsa_bits > kMaxRsaBits) {
        return Fail(ErrorCode::kInvalid, "will not make an RSA key of {} bits", rsa_bits);
      }
      key.reset(EVP_RSA_gen(static_cast<size_t>(rsa_bits)));
      break;
    case KeyKind::kP256:
      key.reset(EVP_EC_gen("P-256"));
      break;
    case KeyKind::kP384:
      key.reset(EVP_EC_gen("P-384"));
      break;
    case KeyKind::kP521:
      key.reset(EVP_EC_gen("P-521"));
      break;
    case KeyKind::kEd25519:
      key.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
      break;
  }
  if (!key) return FailOpenssl(ErrorCode::kInternal, "generating a key");
  return PrivateKey(Share(std::move(key)), kind);
}

Result<PrivateKey> PrivateKey::FromPem(std::string_view pem) {
  TRY(auto blocks, ParsePem(pem));
  for (const auto& block : blocks) {
    if (!IsPrivateLabel(block.type)) continue;
    OwnedKey key = DecodePrivate(block);
    if (!key) return FailOpenssl(ErrorCode::kInvalid, "malformed private key");
    TRY(auto kind, KindOf(key.get()));
    return PrivateKey(Share(std::move(key)), kind);
  }
  return Fail(ErrorCode::kNotFound, "data does not contain a valid RSA or ECDSA private key");
}

Result<PrivateKey> PrivateKey::FromFile(const std::string& path) {
  TRY(auto text, ReadPemFile(path));
  auto key = FromPem(text);
  if (!key) return Annotate(key.error(), path);
  return key;
}

std::string PrivateKey::ToPem() const {
  Owned<PKCS8_PRIV_KEY_INFO, PKCS8_PRIV_KEY_INFO_free> info(EVP_PKEY2PKCS8(key_.get()));
  KEELSON_CHECK(info != nullptr);
  return EncodePem("PRIVATE KEY", ToDer<PKCS8_PRIV_KEY_INFO>(i2d_PKCS8_PRIV_KEY_INFO, info.get()));
}

Result<void> PrivateKey::Save(const std::string& path) const {
  return WriteFileAtomically(path, ToPem(), FileAccess::kSecret);
}

Result<std::string> PrivateKey::Sign(SignatureAlgorithm algorithm, std::string_view message) const {
  const auto& row = Row(algorithm);
  if (kind_ != row.curve) {
    return Fail(ErrorCode::kInvalid, "{} does not fit this kind of key", row.name);
  }
  OwnedDigestContext context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* key_context = nullptr;
  size_t size = 0;
  bool ok = EVP_DigestSignInit_ex(context.get(), &key_context, row.hash, nullptr, nullptr,
                                  key_.get(), nullptr) == 1 &&
            SetPadding(key_context, row.family) &&
            EVP_DigestSign(context.get(), nullptr, &size, AsBytes(message), message.size()) == 1;
  std::string signature(size, '\0');
  ok = ok && EVP_DigestSign(context.get(), AsBytes(signature), &size, AsBytes(message),
                            message.size()) == 1;
  if (!ok) return FailOpenssl(ErrorCode::kInternal, "signing");
  signature.resize(size);
  if (row.family == Family::kEcdsa) return JoseFromDer(signature, row.number_bytes);
  return signature;
}

Result<std::vector<PublicKey>> PublicKeysFromPem(std::string_view pem) {
  TRY(auto blocks, ParsePem(pem));
  std::vector<PublicKey> keys;
  for (const auto& block : blocks) {
    const unsigned char* in = AsBytes(block.der);
    auto size = static_cast<long>(block.der.size());
    OwnedKey key;
    if (block.type == "PUBLIC KEY") {
      key.reset(d2i_PUBKEY(nullptr, &in, size));
    } else if (block.type == "RSA PUBLIC KEY") {
      key.reset(d2i_PublicKey(EVP_PKEY_RSA, nullptr, &in, size));
    } else if (IsPrivateLabel(block.type)) {
      key = DecodePrivate(block);
    } else if (block.type == "CERTIFICATE") {
      TRY(auto certificate, DecodeCertificate(block.der));
      key.reset(X509_get_pubkey(certificate.get()));
    } else {
      continue;
    }
    if (!key) return FailOpenssl(ErrorCode::kInvalid, fmt::format("malformed {}", block.type));
    TRY(auto public_key, AdoptPublicKey(key.get()));
    keys.push_back(std::move(public_key));
  }
  if (keys.empty()) {
    return Fail(ErrorCode::kNotFound, "data does not contain any valid RSA or ECDSA public keys");
  }
  return keys;
}

}  // namespace keelson::crypto
