// Answers of a hostile HTTP/1.1 server. The first byte chooses the request and the size of the
// pieces the rest arrives in; the outcome must not depend on the pieces.

#include <cstdint>

#include "http/client_h1.h"
#include "http/testing/client_fixture.h"

namespace {

using namespace keelson;        // NOLINT(google-build-using-namespace)
using namespace keelson::http;  // NOLINT(google-build-using-namespace)

std::string Outcome(std::string_view bytes, size_t piece, int kind) {
  auto host = std::make_shared<testing::SessionHost>();
  ClientSessionOptions options;
  options.max_header_bytes = 4096;
  H1ClientSession session(*host, options);
  auto call = std::make_shared<ClientCall>(host);
  call->method = kind == 1 ? "HEAD" : "GET";
  Headers headers;
  ClientRequestHead head{.method = call->method,
                         .scheme = "http",
                         .authority = "a",
                         .target = "/",
                         .headers = &headers,
                         .body_length = {},
                         .upgrade = kind == 2};
  session.Begin(call, head);
  call->EndBody();
  testing::Output(session);
  for (size_t at = 0; at < bytes.size(); at += piece) session.Receive(bytes.substr(at, piece));
  session.PeerGone(nullptr);
  KEELSON_CHECK(call->error || call->in_ended);
  return fmt::format("{} {} {} {}", call->status, call->error ? call->error->message : "ok",
                     call->headers.fields().size(), testing::Received(*call));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const int kind = data[0] % 3;
  auto whole = Outcome(bytes, std::max<size_t>(bytes.size(), 1), kind);
  KEELSON_CHECK(whole == Outcome(bytes, 1 + data[0] / 3 % 7, kind));
  return 0;
}
