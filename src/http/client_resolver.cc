#include "http/client_resolver.h"

#include <netdb.h>

#include <algorithm>

namespace keelson::http {

AddressList ResolveHost(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return Fail(ErrorCode::kUnavailable, "lookup {}: {}", host,
                error == EAI_NONAME ? "no such host" : ::gai_strerror(error));
  }
  std::vector<net::Address> first, second;
  int favourite = found->ai_family;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    auto& list = at->ai_family == favourite ? first : second;
    list.push_back(net::Address::FromKernel(at->ai_addr, at->ai_addrlen));
  }
  ::freeaddrinfo(found);
  std::vector<net::Address> out;
  for (size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    if (i < first.size()) out.push_back(first[i]);
    if (i < second.size()) out.push_back(second[i]);
  }
  return out;
}

ThreadExecutor& ClientResolver::NextThread() {
  std::lock_guard lock(mutex_);
  auto& thread = threads_[next_++ % std::size(threads_)];
  if (!thread) thread = std::make_unique<ThreadExecutor>("resolver");
  return *thread;
}

void ClientResolver::Resolve(std::string host, uint16_t port, Executor& executor,
                             std::move_only_function<void(AddressList)> done) {
  if (auto address = net::Address::Ip(host, port)) return done(std::vector{*address});
  NextThread().Post([host = std::move(host), port, &executor, done = std::move(done)]() mutable {
    executor.Post([list = ResolveHost(host, port), done = std::move(done)]() mutable {
      done(std::move(list));
    });
  });
}

}  // namespace keelson::http
