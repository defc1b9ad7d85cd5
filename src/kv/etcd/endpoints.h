#pragma once

// The servers of one etcd cluster, and calls to whichever of them answers.
//
// All calls go to one server until it fails; then the next one has its turn, and stays. A call is
// repeated only where that cannot do harm: reads always, changes when the server certainly did
// nothing with them. Calls are made on io threads of the pool, each of which has connections of
// its own; the choice of server is shared.

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "grpc/channel.h"
#include "http/client.h"
#include "net/io_thread.h"

namespace keelson::kv::etcd {

struct EndpointOptions {
  std::vector<std::string> urls;  // "http://host:port", "https://host:port"
  std::string ca_pem;             // trusted roots; empty for those of the system
  net::TlsKeyPair client_pair;    // may be empty
  // A server that has not answered a call for so long is given up for another one. etcd itself
  // gives up on a request after 7 s.
  Duration call_timeout = std::chrono::seconds(10);
  Duration dial_timeout = std::chrono::seconds(2);
};

// Answers are as large as what is stored; etcd bounds that by itself.
inline constexpr size_t kMaxMessage = 0x7fffffff;

// What a failed call means to users of a store; the text is etcd's own where it gave one.
Error ToError(const grpc::Failure& failure);

class Endpoints {
 public:
  enum class Repeat : uint8_t { kAlways, kWhenUnsent };
  struct Limits {
    std::stop_token stop;
    std::optional<TimePoint> deadline;
  };

  // kInvalid when a URL or certificate does not parse. `pool` and `clock` outlive it.
  static Result<std::unique_ptr<Endpoints>> Create(EndpointOptions options, net::IoPool& pool,
                                                   Clock& clock);

  // On an io thread.
  Task<Result<Slice>> Call(std::string_view method, Slice message, Repeat repeat, Limits limits);

  // The server to talk to now; for streams.
  size_t current() const { return current_.load(std::memory_order_relaxed); }
  grpc::Channel& at(size_t index) { return *channels_[index]; }
  size_t size() const { return channels_.size(); }
  // `failed` did not answer: the next one has its turn, unless it has already.
  void MoveOn(size_t failed);

  net::IoPool& pool() { return pool_; }
  // The io thread this runs on, or the next one of the pool.
  net::IoThread& Thread();

 private:
  Endpoints(EndpointOptions options, net::IoPool& pool, Clock& clock)
      : options_(std::move(options)), pool_(pool), clock_(clock) {}

  const EndpointOptions options_;
  net::IoPool& pool_;
  Clock& clock_;
  std::unique_ptr<http::Client> client_;
  std::vector<std::unique_ptr<grpc::Channel>> channels_;
  std::atomic<size_t> current_ = 0;
};

}  // namespace keelson::kv::etcd
