#include "net/tls_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/openssl_ptr.h"
#include "net/testing/certificates.h"

namespace keelson::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using State = TlsSession::State;

const testing::TestCa& Ca() {
  static const testing::TestCa ca;
  return ca;
}

TlsServerOptions ServerOptions() {
  return {.default_pair = Ca().Issue("server"), .client_ca_pem = Ca().pem()};
}

// Two sessions joined by strings.
struct Pair {
  std::unique_ptr<TlsSession> client;
  std::unique_ptr<TlsSession> server;
  std::string to_server, to_client;
  std::string server_got, client_got;
  char buffer[16 * 1024];
  char record[16 * 1024];

  Pair(std::shared_ptr<const TlsContext> server_context,
       std::shared_ptr<const TlsContext> client_context, const std::string& name = "localhost")
      : client(*TlsSession::Connect(std::move(client_context), name)),
        server(*TlsSession::Accept(std::move(server_context))) {
    client->Start(to_server);
    Settle();
  }

  // Moves bytes until neither side has any. One byte at a time when asked: nothing may depend on
  // how bytes are cut.
  void Settle(size_t step = std::string::npos) {
    while (!to_server.empty() || !to_client.empty()) {
      Move(*server, to_server, to_client, server_got, step);
      Move(*client, to_client, to_server, client_got, step);
    }
  }
  void Move(TlsSession& to, std::string& from, std::string& back, std::string& got, size_t step) {
    std::string taken = from.substr(0, step);
    from.erase(0, taken.size());
    if (taken.empty()) return;
    to.Receive(taken, buffer, back, [&](std::string_view plain) {
      got += plain;
      return true;
    });
  }
  void Send(TlsSession& from, std::string& out, std::string text) {
    iovec piece{text.data(), text.size()};
    EXPECT_EQ(from.Encrypt({&piece, 1}, false, record, out), text.size());
  }
};

std::shared_ptr<const TlsContext> Server(const TlsServerOptions& options) {
  auto context = TlsContext::Server(options);
  EXPECT_TRUE(context) << context.error().message;
  return *context;
}

std::shared_ptr<const TlsContext> Client(TlsClientOptions options = {}) {
  if (options.ca_pem.empty()) options.ca_pem = Ca().pem();
  auto context = TlsContext::Client(options);
  EXPECT_TRUE(context) << context.error().message;
  return *context;
}

TEST(TlsSession, NegotiatesAndCarriesBytesBothWays) {
  Pair pair(Server(ServerOptions()), Client());
  ASSERT_EQ(pair.server->state(), State::kOpen) << pair.server->error();
  ASSERT_EQ(pair.client->state(), State::kOpen) << pair.client->error();
  EXPECT_EQ(pair.server->facts().alpn, "h2");
  EXPECT_EQ(pair.server->facts().version, "TLSv1.3");
  EXPECT_EQ(pair.server->facts().server_name, "localhost");
  EXPECT_TRUE(pair.server->facts().peer_der.empty());
  pair.Send(*pair.client, pair.to_server, "ping");
  pair.Send(*pair.server, pair.to_client, std::string(100'000, 'x'));
  pair.Settle(1);
  EXPECT_EQ(pair.server_got, "ping");
  EXPECT_EQ(pair.client_got.size(), 100'000u);
  pair.client->CloseNotify(pair.to_server);
  pair.Settle();
  EXPECT_EQ(pair.server->state(), State::kEnded);
}

TEST(TlsSession, ShortFirstRecordAfterAPauseThenFullOnes) {
  Pair pair(Server(ServerOptions()), Client());
  std::string text(40'000, 'x');
  iovec piece{text.data(), text.size()};
  std::string out;
  pair.server->Encrypt({&piece, 1}, true, pair.record, out);
  std::vector<size_t> sizes;
  for (size_t at = 0; at < out.size();) {
    size_t size =
        static_cast<unsigned char>(out[at + 3]) * 256u + static_cast<unsigned char>(out[at + 4]);
    sizes.push_back(size);
    at += 5 + size;
  }
  constexpr size_t kOverhead = 17;  // content type and tag
  EXPECT_THAT(sizes, ::testing::ElementsAre(4096 + kOverhead, 16384 + kOverhead, 16384 + kOverhead,
                                            40'000 - 4096 - 2 * 16384 + kOverhead));
}

TEST(TlsSession, ReportsAVerifiedClientCertificate) {
  Pair pair(Server(ServerOptions()), Client({.client_pair = Ca().Issue("alice")}));
  ASSERT_EQ(pair.server->state(), State::kOpen) << pair.server->error();
  EXPECT_EQ(pair.server->facts().peer_der.size(), 1u);
  EXPECT_TRUE(pair.server->facts().peer_verified);
}

TEST(TlsSession, LetsAnUnknownClientCertificateInWithTheReason) {
  testing::TestCa other("other");
  Pair pair(Server(ServerOptions()), Client({.client_pair = other.Issue("mallory")}));
  ASSERT_EQ(pair.server->state(), State::kOpen) << pair.server->error();
  EXPECT_FALSE(pair.server->facts().peer_verified);
  EXPECT_THAT(pair.server->facts().peer_verify_error, HasSubstr("unable to verify"));
}

TEST(TlsSession, ClientRefusesAWrongNameAndAnUnknownCa) {
  Pair wrong_name(Server(ServerOptions()), Client(), "example.com");
  EXPECT_EQ(wrong_name.client->state(), State::kFailed);
  EXPECT_THAT(wrong_name.client->error(), HasSubstr("ostname mismatch"));
  testing::TestCa other("other");
  Pair unknown(Server(ServerOptions()), Client({.ca_pem = other.pem()}));
  EXPECT_EQ(unknown.client->state(), State::kFailed);
  Pair trusting(Server(ServerOptions()), Client({.verify_server = false}), "example.com");
  EXPECT_EQ(trusting.client->state(), State::kOpen);
}

TEST(TlsSession, ChoosesTheCertificateByName) {
  testing::TestCa special("special");
  auto options = ServerOptions();
  options.sni.push_back({.pair = special.Issue("a", {"a.example.com"})});
  options.sni.push_back(
      {.pair = special.Issue("b", {"x.wild.example.com"}), .names = {"*.wild.example.com"}});
  auto server = Server(options);
  auto client = Client({.ca_pem = special.pem()});
  EXPECT_EQ(Pair(server, client, "a.example.com").client->state(), State::kOpen);
  EXPECT_EQ(Pair(server, client, "x.wild.example.com").client->state(), State::kOpen);
  EXPECT_EQ(Pair(server, client, "localhost").client->state(), State::kFailed);
}

TEST(TlsSession, HonoursMinimumVersionAndCipherSuites) {
  auto options = ServerOptions();
  options.min_version = TlsVersion::kTls13;
  EXPECT_EQ(Pair(Server(options), Client()).server->facts().version, "TLSv1.3");
  options = ServerOptions();
  options.cipher_suites = {"TLS_NO_SUCH"};
  EXPECT_THAT(TlsContext::Server(options).error().message, HasSubstr("TLS_NO_SUCH"));
  EXPECT_EQ(*ParseTlsVersion("VersionTLS13"), TlsVersion::kTls13);
  EXPECT_FALSE(ParseTlsVersion("TLS1.3"));
}

// OpenSSL's own client with memory BIOs, because it can keep a session.
struct ResumingClient {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_SESSION* session = nullptr;
  ~ResumingClient() {
    SSL_SESSION_free(session);
    SSL_CTX_free(context);
  }
  // Connects, takes the ticket that follows, and tells what the server saw.
  TlsFacts Connect(std::shared_ptr<const TlsContext> server_context) {
    auto server = *TlsSession::Accept(std::move(server_context));
    SSL* ssl = SSL_new(context);
    BIO* in = BIO_new(BIO_s_mem());
    BIO* out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl, in, out);
    SSL_set_connect_state(ssl);
    if (session != nullptr) SSL_set_session(ssl, session);
    char buffer[16 * 1024];
    for (int round = 0; round < 5; ++round) {
      SSL_do_handshake(ssl);
      SSL_read(ssl, buffer, sizeof(buffer));  // takes tickets
      char* bytes = nullptr;
      long size = BIO_get_mem_data(out, &bytes);
      std::string to_server(bytes, static_cast<size_t>(size));
      (void)BIO_reset(out);
      std::string to_client;
      if (!to_server.empty()) {
        server->Receive(to_server, buffer, to_client, [](auto) { return true; });
      }
      if (!to_client.empty()) BIO_write(in, to_client.data(), static_cast<int>(to_client.size()));
    }
    EXPECT_EQ(server->state(), State::kOpen) << server->error();
    SSL_SESSION_free(session);
    session = SSL_get1_session(ssl);
    SSL_shutdown(ssl);  // an unclean end would spoil the session
    SSL_free(ssl);
    return server->TakeFacts();
  }
};

TEST(TlsSession, ResumesByTicketButNotAcrossAReload) {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    auto server = Server(ServerOptions());
    ResumingClient client;
    SSL_CTX_set_max_proto_version(client.context, version);
    EXPECT_FALSE(client.Connect(server).resumed);
    EXPECT_TRUE(client.Connect(server).resumed);
    EXPECT_FALSE(client.Connect(Server(ServerOptions())).resumed);
  }
}

TEST(TlsSession, FailsWithoutACommonApplicationProtocol) {
  Pair pair(Server(ServerOptions()), Client({.alpn = {"spdy/3"}}));
  EXPECT_EQ(pair.server->state(), State::kFailed);
}

TEST(TlsSession, GarbageIsAnErrorNotACrash) {
  auto server = *TlsSession::Accept(Server(ServerOptions()));
  std::string out;
  char buffer[1024];
  auto state = server->Receive(std::string(100, '\x16'), buffer, out, [](auto) { return true; });
  EXPECT_EQ(state, State::kFailed);
  EXPECT_FALSE(server->error().empty());
}

TEST(TlsContext, BadPemIsAnErrorWithItsReason) {
  auto options = ServerOptions();
  options.default_pair.key_pem = Ca().Issue("other").key_pem;
  EXPECT_THAT(TlsContext::Server(options).error().message, HasSubstr("does not match"));
  options.default_pair.certificate_pem = "nonsense";
  EXPECT_THAT(TlsContext::Server(options).error().message, StartsWith("parsing the certificate"));
  options = ServerOptions();
  options.client_ca_pem = options.client_ca_pem.substr(0, 200);
  EXPECT_FALSE(TlsContext::Server(options));
}

}  // namespace
}  // namespace keelson::net
