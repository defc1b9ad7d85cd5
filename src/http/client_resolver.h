#pragma once

// Host names to addresses, off the io threads: getaddrinfo blocks. Private to the client's sources.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "net/address.h"

namespace keelson::http {

using AddressList = Result<std::vector<net::Address>>;

// At least one address, families taking turns, beginning with the resolver's favourite.
AddressList ResolveHost(const std::string& host, uint16_t port);

class ClientResolver {
 public:
  // Calls `done` on `executor`: with a numeric address before this returns, else later.
  void Resolve(std::string host, uint16_t port, Executor& executor,
               std::move_only_function<void(AddressList)> done);

 private:
  ThreadExecutor& NextThread();

  // Two, so that one name server that does not answer holds up only half of the others. Made when
  // first needed: many clients know addresses only.
  std::mutex mutex_;
  std::unique_ptr<ThreadExecutor> threads_[2];
  unsigned next_ = 0;
};

}  // namespace keelson::http
