#include "net/tls_context.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>

#include "base/ids.h"
#include "net/openssl_ptr.h"

namespace keelson::net {
namespace {

struct CipherSuite {
  std::string_view iana;
  const char* openssl;  // null for TLS 1.3, where the set is fixed
  bool by_default;
};

// Go's suites in its order of preference. The last group is accepted when named, never a default.
constexpr CipherSuite kCipherSuites[] = {
    {"TLS_AES_128_GCM_SHA256", nullptr, true},
    {"TLS_AES_256_GCM_SHA384", nullptr, true},
    {"TLS_CHACHA20_POLY1305_SHA256", nullptr, true},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256", true},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", true},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384", true},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384", true},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305", true},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305", true},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305", false},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305", false},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA", true},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA", true},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA", true},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA", true},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256", false},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256", false},
    {"TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256", false},
    {"TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384", false},
    {"TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256", false},
    {"TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA", false},
    {"TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA", false},
    {"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", "ECDHE-RSA-DES-CBC3-SHA", false},
    {"TLS_RSA_WITH_3DES_EDE_CBC_SHA", "DES-CBC3-SHA", false},
    {"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", "ECDHE-ECDSA-RC4-SHA", false},
    {"TLS_ECDHE_RSA_WITH_RC4_128_SHA", "ECDHE-RSA-RC4-SHA", false},
    {"TLS_RSA_WITH_RC4_128_SHA", "RC4-SHA", false},
};

constexpr struct {
  std::string_view name;
  TlsVersion version;
  int openssl;
} kVersions[] = {
    {"VersionTLS10", TlsVersion::kTls10, TLS1_VERSION},
    {"VersionTLS11", TlsVersion::kTls11, TLS1_1_VERSION},
    {"VersionTLS12", TlsVersion::kTls12, TLS1_2_VERSION},
    {"VersionTLS13", TlsVersion::kTls13, TLS1_3_VERSION},
};

const CipherSuite* FindSuite(std::string_view name) {
  auto found = std::ranges::find(kCipherSuites, name, &CipherSuite::iana);
  return found == std::end(kCipherSuites) ? nullptr : found;
}

std::string CipherList(const std::vector<std::string>& names, TlsVersion min_version) {
  std::string list;
  auto add = [&list](const CipherSuite& suite) {
    if (suite.openssl == nullptr) return;
    if (!list.empty()) list += ':';
    list += suite.openssl;
  };
  if (names.empty()) {
    for (const auto& suite : kCipherSuites) {
      if (suite.by_default) add(suite);
    }
  } else {
    for (const auto& name : names) {
      if (const auto* suite = FindSuite(name)) add(*suite);
    }
  }
  // Debian's OpenSSL refuses TLS 1.0 and 1.1 unless the security level is lowered.
  if (min_version < TlsVersion::kTls12)
    list += list.empty() ? "DEFAULT@SECLEVEL=0" : ":@SECLEVEL=0";
  return list;
}

// Never asks the terminal for a passphrase.
int NoPassphrase(char*, int, int, void*) { return -1; }

std::unexpected<Error> TlsError(std::string_view doing) {
  auto reason = TakeOpensslError();
  return Fail(ErrorCode::kInvalid, "{}: {}", doing, reason.empty() ? "no such PEM block" : reason);
}

Result<std::vector<X509Ptr>> ParseCertificates(std::string_view pem, std::string_view what) {
  auto bio = ReadOnlyBio(pem);
  std::vector<X509Ptr> certificates;
  while (auto* certificate = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    certificates.emplace_back(certificate);
  }
  // The end of the text is reported as a missing start line.
  bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (certificates.empty() || !at_end) return TlsError(fmt::format("parsing {}", what));
  ERR_clear_error();
  return certificates;
}

Result<void> UseKeyPair(SSL_CTX* context, const TlsKeyPair& pair) {
  TRY(auto chain, ParseCertificates(pair.certificate_pem, "the certificate"));
  if (SSL_CTX_use_certificate(context, chain[0].get()) != 1)
    return TlsError("using the certificate");
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) {
      return TlsError("using the certificate chain");
    }
  }
  auto bio = ReadOnlyBio(pair.key_pem);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  if (!key) return TlsError("parsing the private key");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return TlsError("the private key does not match the certificate");
  }
  return {};
}

Result<void> TrustCertificates(SSL_CTX* context, std::string_view pem, bool announce) {
  TRY(auto roots, ParseCertificates(pem, "the CA certificates"));
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const auto& root : roots) {
    if (X509_STORE_add_cert(store, root.get()) != 1) return TlsError("trusting a CA certificate");
    if (announce && SSL_CTX_add_client_CA(context, root.get()) != 1) {
      return TlsError("announcing a CA certificate");
    }
  }
  return {};
}

std::vector<std::string> NamesOf(SSL_CTX* context) {
  std::vector<std::string> names;
  X509* leaf = SSL_CTX_get0_certificate(context);
  auto* alternatives =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(leaf, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; alternatives != nullptr && i < sk_GENERAL_NAME_num(alternatives); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(alternatives, i);
    if (name->type != GEN_DNS) continue;
    names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       ASN1_STRING_length(name->d.dNSName));
  }
  GENERAL_NAMES_free(alternatives);
  return names;
}

bool EqualNames(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool NameMatches(std::string_view pattern, std::string_view name) {
  if (!pattern.starts_with("*.")) return EqualNames(pattern, name);
  auto dot = name.find('.');
  return dot != std::string_view::npos && dot > 0 &&
         EqualNames(pattern.substr(1), name.substr(dot));
}

std::string AlpnWire(const std::vector<std::string>& names) {
  std::string wire;
  for (const auto& name : names) {
    wire += static_cast<char>(name.size());
    wire += name;
  }
  return wire;
}

// Everyone may present any certificate; the verdict is read from the session afterwards.
int AcceptAnyCertificate(int, X509_STORE_CTX*) { return 1; }

int OnServerName(SSL* ssl, int*, void* argument) {
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  if (name != nullptr) {
    SSL_set_SSL_CTX(ssl, static_cast<const TlsContext*>(argument)->ForName(name));
  }
  return SSL_TLSEXT_ERR_OK;
}

int OnAlpn(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
           unsigned offered_size, void* argument) {
  const auto& wire = *static_cast<const std::string*>(argument);
  unsigned char* chosen = nullptr;
  // The server's order decides. Without overlap the handshake fails, as it does in Go.
  int outcome =
      SSL_select_next_proto(&chosen, out_size, reinterpret_cast<const unsigned char*>(wire.data()),
                            static_cast<unsigned>(wire.size()), offered, offered_size);
  *out = chosen;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void CommonSettings(SSL_CTX* context) {
  SSL_CTX_set_mode(context,
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384:P-521");
}

}  // namespace

Result<TlsVersion> ParseTlsVersion(std::string_view name) {
  for (const auto& version : kVersions) {
    if (version.name == name) return version.version;
  }
  return Fail(ErrorCode::kInvalid, "unknown tls version \"{}\"", name);
}

Result<void> CheckCipherSuites(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    if (FindSuite(name) == nullptr) {
      return Fail(ErrorCode::kInvalid, "Cipher suite {} not supported or doesn't exist", name);
    }
  }
  return {};
}

std::vector<std::string_view> CipherSuiteNames() {
  std::vector<std::string_view> names;
  for (const auto& suite : kCipherSuites) names.push_back(suite.iana);
  return names;
}

void TlsContext::FreeNative::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

TlsContext::~TlsContext() = default;

Result<TlsContext::Native> TlsContext::ServerNative(const TlsServerOptions& options,
                                                    const TlsKeyPair& pair,
                                                    std::string_view ticket_keys,
                                                    const TlsContext* self) {
  Native native(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* context = native.get();
  CommonSettings(context);
  for (const auto& version : kVersions) {
    if (version.version == options.min_version) {
      SSL_CTX_set_min_proto_version(context, version.openssl);
    }
  }
  auto ciphers = CipherList(options.cipher_suites, options.min_version);
  if (!ciphers.empty() && SSL_CTX_set_cipher_list(context, ciphers.c_str()) != 1) {
    return TlsError("choosing cipher suites");
  }
  TRY_VOID(UseKeyPair(context, pair));
  if (!options.client_ca_pem.empty()) {
    TRY_VOID(TrustCertificates(context, options.client_ca_pem, true));
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, AcceptAnyCertificate);
  }
  // Sessions live in tickets, so resumption costs the server no memory. The keys are new with every
  // context: a ticket issued under an old client CA must not carry its verdict into the new one.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 1);
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>("keelson"), 7);
  SSL_CTX_set_tlsext_ticket_keys(context, const_cast<char*>(ticket_keys.data()),
                                 static_cast<long>(ticket_keys.size()));
  SSL_CTX_set_tlsext_servername_callback(context, OnServerName);
  SSL_CTX_set_tlsext_servername_arg(context, const_cast<TlsContext*>(self));
  SSL_CTX_set_alpn_select_cb(context, OnAlpn, const_cast<std::string*>(&self->alpn_wire_));
  return native;
}

Result<std::shared_ptr<const TlsContext>> TlsContext::Server(const TlsServerOptions& options) {
  TRY_VOID(CheckCipherSuites(options.cipher_suites));
  std::shared_ptr<TlsContext> self(new TlsContext);
  self->server_ = true;
  self->alpn_wire_ = AlpnWire(options.alpn);
  constexpr size_t kTicketKeysSize = 80;
  unsigned char keys[kTicketKeysSize];
  RandomBytes(keys);
  std::string_view ticket_keys(reinterpret_cast<char*>(keys), sizeof(keys));
  TRY(self->default_, ServerNative(options, options.default_pair, ticket_keys, self.get()));
  for (const auto& named : options.sni) {
    TRY(auto native, ServerNative(options, named.pair, ticket_keys, self.get()));
    auto names = named.names.empty() ? NamesOf(native.get()) : named.names;
    self->named_.push_back({std::move(names), std::move(native)});
  }
  OPENSSL_cleanse(keys, sizeof(keys));
  return self;
}

Result<std::shared_ptr<const TlsContext>> TlsContext::Client(const TlsClientOptions& options) {
  std::shared_ptr<TlsContext> self(new TlsContext);
  self->verify_server_ = options.verify_server;
  self->default_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* context = self->native();
  CommonSettings(context);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  if (!options.client_pair.certificate_pem.empty()) {
    TRY_VOID(UseKeyPair(context, options.client_pair));
  }
  if (options.verify_server) {
    if (options.ca_pem.empty()) {
      if (SSL_CTX_set_default_verify_paths(context) != 1)
        return TlsError("finding the system's CAs");
    } else {
      TRY_VOID(TrustCertificates(context, options.ca_pem, false));
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  auto wire = AlpnWire(options.alpn);
  SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(wire.data()),
                          static_cast<unsigned>(wire.size()));
  return self;
}

ssl_ctx_st* TlsContext::ForName(std::string_view name) const {
  for (const auto& named : named_) {
    for (const auto& pattern : named.names) {
      if (NameMatches(pattern, name)) return named.native.get();
    }
  }
  return default_.get();
}

}  // namespace keelson::net
