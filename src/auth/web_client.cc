#include "auth/web_client.h"

#include <fmt/format.h>

#include <utility>

namespace keelson::auth {
namespace {

constexpr int kAttempts = 5;
constexpr Duration kFirstPause = std::chrono::milliseconds(500);

}  // namespace

Result<std::shared_ptr<HttpWebClient>> HttpWebClient::Create(http::ClientOptions options,
                                                             net::IoPool& pool) {
  TRY(auto client, http::Client::Create(std::move(options), pool));
  return std::shared_ptr<HttpWebClient>(new HttpWebClient(std::move(client)));
}

Task<Result<WebAnswer>> HttpWebClient::Call(WebRequest request) {
  http::ClientRequest call{
      .method = request.method, .url = std::move(request.url), .timeout = request.timeout};
  call.headers.Add("Accept", "application/json");
  if (!request.body.empty()) {
    call.headers.Add("Content-Type", "application/json");
    call.body.push_back(Slice::Own(std::move(request.body)));
  }
  CO_TRY(auto response, co_await client_->Send(std::move(call)));
  CO_TRY(auto body, co_await response.body().ReadAll(kMaxAnswer));
  co_return WebAnswer{response.status(), std::move(body)};
}

Task<Result<WebAnswer>> CallPatiently(WebClient& client, WebRequest request, Clock& clock) {
  Duration pause = kFirstPause;
  for (int attempt = 1;; ++attempt) {
    auto answer = co_await client.Call(request);
    if ((answer && answer->status < 500 && answer->status != 429) || attempt == kAttempts) {
      co_return answer;
    }
    co_await SleepFor(clock, pause);
    pause += pause / 2;
  }
}

}  // namespace keelson::auth
