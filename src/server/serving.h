#pragma once

// The seam between the lifecycle and the sockets.

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "http/exchange.h"

namespace keelson::server {

class Serving {
 public:
  virtual ~Serving() = default;

  // Binds and accepts; requests go to `handler`, which outlives this.
  virtual Result<void> Start(http::Handler& handler) = 0;
  // "[::]:6443", once started.
  virtual std::string address() const = 0;

  // Stops gracefully: takes what the kernel has already accepted, closes the listening sockets and
  // calls `listener_closed`, tells every peer to go (GOAWAY, Connection: close), serves what is
  // still under way, and completes when the last connection is gone or `timeout` has passed, after
  // which the rest is cut. Called at most once, after Start.
  virtual Task<void> Stop(Duration timeout, std::function<void()> listener_closed) = 0;
};

}  // namespace keelson::server
