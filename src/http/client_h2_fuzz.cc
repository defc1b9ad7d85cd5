// Bytes of a hostile HTTP/2 server, while two requests are under way.

#include <cstdint>

#include "http/client_h2.h"
#include "http/testing/client_fixture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson;        // NOLINT(google-build-using-namespace)
  using namespace keelson::http;  // NOLINT(google-build-using-namespace)
  auto host = std::make_shared<testing::SessionHost>();
  ClientSessionOptions options;
  options.max_header_bytes = 4096;
  H2ClientSession session(*host, options);
  session.Start();
  std::vector<std::shared_ptr<ClientCall>> calls;
  Headers headers;
  for (bool body : {false, true}) {
    auto call = calls.emplace_back(std::make_shared<ClientCall>(host));
    call->method = body ? "POST" : "GET";
    ClientRequestHead head{.method = call->method,
                           .scheme = "https",
                           .authority = "a",
                           .target = "/",
                           .headers = &headers,
                           .has_body = body,
                           .body_length = {}};
    session.Begin(call, head);
    call->Queue(Slice::Static("body"));
    if (!body) call->EndBody();
  }
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (size_t at = 0; at < bytes.size() && !session.finished(); at += 1000) {
    session.Receive(bytes.substr(at, 1000));
    testing::Output(session);
    for (auto& call : calls) {
      KEELSON_CHECK(call->in_size <= options.stream_window);
      while (!call->in.empty() && call->session != nullptr) {
        size_t taken = call->in.front().size();
        call->in.pop_front();
        call->in_size -= taken;
        session.Consumed(*call, taken);
      }
    }
    host->now += std::chrono::seconds(20);
    session.OnTime(host->now);
  }
  session.PeerGone(nullptr);
  for (auto& call : calls) KEELSON_CHECK(call->error || call->in_ended);
  return 0;
}
