#pragma once

// To a server over HTTP.

#include <memory>
#include <string>

#include "client/transport.h"
#include "http/client.h"
#include "net/io_thread.h"

namespace keelson::client {

// Where a server is and how one gets in.
struct Target {
  std::string server;  // "https://10.0.0.1:6443", perhaps with a path
  http::ClientOptions options;
};

class HttpTransport final : public Transport {
 public:
  // `pool` outlives it. kInvalid when certificates or keys do not parse.
  static Result<std::unique_ptr<HttpTransport>> Create(Target target, std::string user_agent,
                                                       net::IoPool& pool);
  // On a thread of the pool.
  Task<Result<std::unique_ptr<Answer>>> Send(Call call) override;

 private:
  HttpTransport(std::string server, std::string user_agent, std::unique_ptr<http::Client> client)
      : server_(std::move(server)),
        user_agent_(std::move(user_agent)),
        client_(std::move(client)) {}

  const std::string server_;  // without a slash at its end
  const std::string user_agent_;
  std::unique_ptr<http::Client> client_;
};

}  // namespace keelson::client
