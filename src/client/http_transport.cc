#include "client/http_transport.h"

#include <utility>

namespace keelson::client {
namespace {

class HttpAnswer final : public Answer {
 public:
  explicit HttpAnswer(http::ClientResponse response) : response_(std::move(response)) {}
  int status() const override { return response_.status(); }
  std::optional<std::string_view> Header(std::string_view name) const override {
    return response_.headers().Get(name);
  }
  http::BodyReader& body() override { return response_.body(); }

 private:
  http::ClientResponse response_;
};

}  // namespace

Result<std::unique_ptr<HttpTransport>> HttpTransport::Create(Target target, std::string user_agent,
                                                             net::IoPool& pool) {
  while (target.server.ends_with('/')) target.server.pop_back();
  TRY(auto client, http::Client::Create(std::move(target.options), pool));
  return std::unique_ptr<HttpTransport>(
      new HttpTransport(std::move(target.server), std::move(user_agent), std::move(client)));
}

Task<Result<std::unique_ptr<Answer>>> HttpTransport::Send(Call call) {
  http::ClientRequest request{.method = std::move(call.method),
                              .url = server_ + call.target,
                              .timeout = call.timeout,
                              .stop = std::move(call.stop)};
  request.headers.Add("accept", "application/json");
  request.headers.Add("user-agent", user_agent_);
  if (!call.content_type.empty()) request.headers.Add("content-type", call.content_type);
  if (!call.body.empty()) request.body.push_back(Slice::Own(std::move(call.body)));
  CO_TRY(auto response, co_await client_->Send(std::move(request)));
  co_return std::make_unique<HttpAnswer>(std::move(response));
}

}  // namespace keelson::client
