#pragma once

// Asking other servers: the seam through which webhooks and identity providers are called, so that
// what is said can be tested without a network.

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "http/client.h"
#include "net/io_thread.h"

namespace keelson::auth {

struct WebRequest {
  std::string method = "GET";
  std::string url;
  std::string body;  // JSON, when there is any
  Duration timeout = std::chrono::seconds(30);
};

struct WebAnswer {
  int status = 0;
  std::string body;
};

class WebClient {
 public:
  // Longer answers are an error.
  static constexpr size_t kMaxAnswer = size_t{3} << 20;

  virtual ~WebClient() = default;
  // On an io thread. Fails when there is no answer, whatever it would be.
  virtual Task<Result<WebAnswer>> Call(WebRequest request) = 0;
};

class HttpWebClient final : public WebClient {
 public:
  static Result<std::shared_ptr<HttpWebClient>> Create(http::ClientOptions options,
                                                       net::IoPool& pool);
  Task<Result<WebAnswer>> Call(WebRequest request) override;

 private:
  explicit HttpWebClient(std::unique_ptr<http::Client> client) : client_(std::move(client)) {}
  std::unique_ptr<http::Client> client_;
};

// Calls until there is an answer below 500, five times at most and with growing pauses in between.
Task<Result<WebAnswer>> CallPatiently(WebClient& client, WebRequest request, Clock& clock);

}  // namespace keelson::auth
