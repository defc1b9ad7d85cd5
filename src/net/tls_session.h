#pragma once

// One TLS connection as a state machine over bytes: no socket, no waiting.
//
// Encrypted bytes go in through Receive, plain bytes come out through a sink; plain bytes go in
// through Encrypt, encrypted bytes are appended to a string. OpenSSL sees a BIO that reads from the
// bytes at hand and writes to that string, so it never blocks and never has to be retried. Buffers
// are released whenever a record is complete: an idle session holds keys and little else.

#include <sys/uio.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/tls_context.h"

struct ssl_st;  // OpenSSL's SSL
struct bio_st;  // OpenSSL's BIO

namespace keelson::net {

// What the handshake established.
struct TlsFacts {
  std::string alpn;         // empty when none was negotiated
  std::string server_name;  // SNI, as sent
  std::string version;      // "TLSv1.3"
  std::string cipher;       // IANA name
  bool resumed = false;
  std::vector<std::string> peer_der;  // the peer's certificates, leaf first
  bool peer_verified = false;
  std::string peer_verify_error;  // why not, when not
};

class TlsSession {
 public:
  enum class State : uint8_t {
    kHandshake,  // in progress
    kOpen,
    kEnded,   // the peer sent close_notify
    kFailed,  // see error(); bytes to send (an alert) may remain
  };
  // A function reference: called with each piece of plain bytes, valid during the call. Returns
  // false to stop early, for example because the receiver closed the connection.
  using Sink = std::function<bool(std::string_view plain)>;

  static Result<std::unique_ptr<TlsSession>> Accept(std::shared_ptr<const TlsContext> context);
  // `server_name` is sent as SNI (unless it is an address) and checked against the certificate.
  static Result<std::unique_ptr<TlsSession>> Connect(std::shared_ptr<const TlsContext> context,
                                                     const std::string& server_name);
  ~TlsSession();

  // Starts a client's handshake; a server's starts with the first bytes received.
  void Start(std::string& cipher_out);

  // Consumes all of `cipher`. `buffer` receives plain bytes for the sink; 16 KiB is the best size.
  State Receive(std::string_view cipher, std::span<char> buffer, std::string& cipher_out,
                const Sink& sink);

  // Encrypts `pieces`, filling records of 16 KiB through `record` (a
  // buffer of that size). After a pause the first record of a long run is short, so that the peer
  // can begin before a whole one has arrived. Returns how many plain bytes were taken.
  size_t Encrypt(std::span<const iovec> pieces, bool after_pause, std::span<char> record,
                 std::string& cipher_out);

  void CloseNotify(std::string& cipher_out);

  State state() const { return state_; }
  const std::string& error() const { return error_; }
  // Valid once open.
  const TlsFacts& facts() const { return facts_; }
  // Gives the facts away; they are rarely wanted twice and weigh on idle connections.
  TlsFacts TakeFacts() { return std::move(facts_); }

 private:
  TlsSession() = default;
  static Result<std::unique_ptr<TlsSession>> Create(std::shared_ptr<const TlsContext> context);
  void ContinueHandshake();
  void Established();
  void Failed();

  static int BioRead(bio_st* bio, char* out, int size);
  static int BioWrite(bio_st* bio, const char* bytes, int size);
  static long BioControl(bio_st* bio, int command, long number, void* pointer);

  std::shared_ptr<const TlsContext> context_;
  ssl_st* ssl_ = nullptr;
  std::string_view input_;         // valid during a call only
  std::string* output_ = nullptr;  // valid during a call only
  State state_ = State::kHandshake;
  std::string error_;
  TlsFacts facts_;
};

}  // namespace keelson::net
