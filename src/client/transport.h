#pragma once

// The seam between what is asked of a server and how it gets there, so that clients can be tested
// without a network.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "http/exchange.h"

namespace keelson::client {

struct Call {
  std::string method = "GET";
  std::string target;  // path and query
  std::string content_type;
  std::string body;
  std::optional<Duration> timeout;  // of everything, reading the answer included
  std::stop_token stop;
};

class Answer {
 public:
  virtual ~Answer() = default;
  virtual int status() const = 0;
  virtual std::optional<std::string_view> Header(std::string_view name) const = 0;
  virtual http::BodyReader& body() = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Fails when there is no answer, whatever it would be.
  virtual Task<Result<std::unique_ptr<Answer>>> Send(Call call) = 0;
};

}  // namespace keelson::client
