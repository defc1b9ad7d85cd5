#include "net/tls_session.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>

#include "net/openssl_ptr.h"

namespace keelson::net {
namespace {

constexpr size_t kMaxRecord = 16 * 1024;
constexpr size_t kFirstRecord = 4 * 1024;

BIO_METHOD* MakeMethod(int (*read)(BIO*, char*, int), int (*write)(BIO*, const char*, int),
                       long (*control)(BIO*, int, long, void*)) {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "bytes at hand");
  BIO_meth_set_read(method, read);
  BIO_meth_set_write(method, write);
  BIO_meth_set_ctrl(method, control);
  return method;
}

bool IsIpAddress(const std::string& name) {
  unsigned char buffer[16];
  return inet_pton(AF_INET, name.c_str(), buffer) == 1 ||
         inet_pton(AF_INET6, name.c_str(), buffer) == 1;
}

std::string DerOf(X509* certificate) {
  unsigned char* bytes = nullptr;
  int size = i2d_X509(certificate, &bytes);
  if (size <= 0) return {};
  std::string der(reinterpret_cast<char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

}  // namespace

int TlsSession::BioRead(bio_st* bio, char* out, int size) {
  auto* self = static_cast<TlsSession*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (self->input_.empty()) {
    BIO_set_retry_read(bio);
    return -1;
  }
  size_t count = std::min(self->input_.size(), static_cast<size_t>(size));
  std::memcpy(out, self->input_.data(), count);
  self->input_.remove_prefix(count);
  return static_cast<int>(count);
}

int TlsSession::BioWrite(bio_st* bio, const char* bytes, int size) {
  auto* self = static_cast<TlsSession*>(BIO_get_data(bio));
  KEELSON_CHECK(self->output_ != nullptr);
  self->output_->append(bytes, static_cast<size_t>(size));
  return size;
}

long TlsSession::BioControl(bio_st*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

Result<std::unique_ptr<TlsSession>> TlsSession::Create(std::shared_ptr<const TlsContext> context) {
  static BIO_METHOD* const kMethod = MakeMethod(BioRead, BioWrite, BioControl);
  std::unique_ptr<TlsSession> self(new TlsSession);
  self->context_ = std::move(context);
  self->ssl_ = SSL_new(self->context_->native());
  BIO* bio = BIO_new(kMethod);
  if (self->ssl_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    return Fail(ErrorCode::kExhausted, "creating a TLS session: {}", TakeOpensslError());
  }
  BIO_set_data(bio, self.get());
  BIO_set_init(bio, 1);
  SSL_set_bio(self->ssl_, bio, bio);
  return self;
}

Result<std::unique_ptr<TlsSession>> TlsSession::Accept(std::shared_ptr<const TlsContext> context) {
  TRY(auto self, Create(std::move(context)));
  SSL_set_accept_state(self->ssl_);
  return self;
}

Result<std::unique_ptr<TlsSession>> TlsSession::Connect(std::shared_ptr<const TlsContext> context,
                                                        const std::string& server_name) {
  TRY(auto self, Create(std::move(context)));
  SSL_set_connect_state(self->ssl_);
  if (IsIpAddress(server_name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(self->ssl_), server_name.c_str());
  } else if (!server_name.empty()) {
    SSL_set_tlsext_host_name(self->ssl_, server_name.c_str());
    SSL_set1_host(self->ssl_, server_name.c_str());
  }
  return self;
}

TlsSession::~TlsSession() { SSL_free(ssl_); }

void TlsSession::Start(std::string& cipher_out) {
  output_ = &cipher_out;
  ContinueHandshake();
  output_ = nullptr;
}

void TlsSession::Failed() {
  state_ = State::kFailed;
  if (long verdict = SSL_get_verify_result(ssl_);
      !context_->server() && context_->verify_server() && verdict != X509_V_OK) {
    error_ = fmt::format("certificate: {}", X509_verify_cert_error_string(verdict));
    ERR_clear_error();
    return;
  }
  error_ = TakeOpensslError();
  if (error_.empty()) error_ = "protocol error";
}

void TlsSession::ContinueHandshake() {
  ERR_clear_error();
  int outcome = SSL_do_handshake(ssl_);
  if (outcome == 1) {
    Established();
  } else if (SSL_get_error(ssl_, outcome) != SSL_ERROR_WANT_READ) {
    Failed();
  }
}

void TlsSession::Established() {
  state_ = State::kOpen;
  const unsigned char* alpn = nullptr;
  unsigned alpn_size = 0;
  SSL_get0_alpn_selected(ssl_, &alpn, &alpn_size);
  facts_.alpn.assign(reinterpret_cast<const char*>(alpn), alpn_size);
  if (const char* name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name)) {
    facts_.server_name = name;
  }
  facts_.version = SSL_get_version(ssl_);
  if (const auto* cipher = SSL_get_current_cipher(ssl_)) {
    if (const char* name = SSL_CIPHER_standard_name(cipher)) facts_.cipher = name;
  }
  facts_.resumed = SSL_session_reused(ssl_) == 1;

  X509* leaf = SSL_get0_peer_certificate(ssl_);
  if (leaf == nullptr) return;
  facts_.peer_der.push_back(DerOf(leaf));
  // A server's view of the chain leaves out the leaf; a client's does not.
  STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl_);
  for (int i = context_->server() ? 0 : 1; chain != nullptr && i < sk_X509_num(chain); ++i) {
    facts_.peer_der.push_back(DerOf(sk_X509_value(chain, i)));
  }
  long verdict = SSL_get_verify_result(ssl_);
  facts_.peer_verified = verdict == X509_V_OK;
  if (!facts_.peer_verified) facts_.peer_verify_error = X509_verify_cert_error_string(verdict);
}

TlsSession::State TlsSession::Receive(std::string_view cipher, std::span<char> buffer,
                                      std::string& cipher_out, const Sink& sink) {
  input_ = cipher;
  output_ = &cipher_out;
  if (state_ == State::kHandshake) ContinueHandshake();
  while (state_ == State::kOpen) {
    ERR_clear_error();
    int count = SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()));
    if (count > 0) {
      // The sink may encrypt an answer, which points the output elsewhere.
      if (!sink({buffer.data(), static_cast<size_t>(count)})) break;
      output_ = &cipher_out;
      continue;
    }
    int reason = SSL_get_error(ssl_, count);
    if (reason == SSL_ERROR_WANT_READ) break;
    if (reason == SSL_ERROR_ZERO_RETURN) {
      state_ = State::kEnded;
    } else {
      Failed();
    }
  }
  input_ = {};
  output_ = nullptr;
  return state_;
}

size_t TlsSession::Encrypt(std::span<const iovec> pieces, bool after_pause, std::span<char> record,
                           std::string& cipher_out) {
  if (state_ != State::kOpen && state_ != State::kEnded) return 0;
  output_ = &cipher_out;
  size_t total = 0;
  for (const auto& piece : pieces) total += piece.iov_len;

  size_t taken = 0;
  size_t index = 0;
  size_t offset = 0;  // into pieces[index]
  while (taken < total) {
    bool short_one = after_pause && taken == 0 && total > kMaxRecord;
    size_t room = std::min({record.size(), short_one ? kFirstRecord : kMaxRecord, total - taken});
    size_t filled = 0;
    while (filled < room) {
      size_t count = std::min(room - filled, pieces[index].iov_len - offset);
      std::memcpy(record.data() + filled, static_cast<char*>(pieces[index].iov_base) + offset,
                  count);
      filled += count;
      offset += count;
      if (offset == pieces[index].iov_len) {
        ++index;
        offset = 0;
      }
    }
    ERR_clear_error();
    if (SSL_write(ssl_, record.data(), static_cast<int>(filled)) <= 0) {
      Failed();
      break;
    }
    taken += filled;
  }
  output_ = nullptr;
  return taken;
}

void TlsSession::CloseNotify(std::string& cipher_out) {
  if (state_ != State::kOpen && state_ != State::kEnded) return;
  output_ = &cipher_out;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
  output_ = nullptr;
}

}  // namespace keelson::net
