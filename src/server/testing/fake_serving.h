#pragma once

// A listener without sockets: tests say when its connections end.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/completion.h"
#include "server/serving.h"

namespace keelson::server {

class FakeServing final : public Serving {
 public:
  explicit FakeServing(Clock& clock, std::vector<std::string>* events = nullptr)
      : clock_(clock), events_(events) {}

  Result<void> Start(http::Handler& handler) override {
    Note("listen");
    if (!start_error.empty()) return Fail(ErrorCode::kIo, "{}", start_error);
    listening = true;
    handler_ = &handler;
    return {};
  }
  std::string address() const override { return "127.0.0.1:0"; }

  Task<void> Stop(Duration timeout, std::function<void()> listener_closed) override {
    stop_timeout = timeout;
    listening = false;
    Note("close listener");
    listener_closed();
    auto timer = clock_.Schedule(clock_.Now() + timeout, [gone = gone_] { gone->Set(true); });
    if (connections == 0) gone_->Set(true);
    co_await Completion<bool>::Wait(gone_);
    clock_.Cancel(timer);
    Note("connections gone");
  }

  void Disconnect() {
    if (--connections == 0) gone_->Set(true);
  }

  bool listening = false;
  int connections = 0;
  std::string start_error;
  Duration stop_timeout{};
  http::Handler* handler() { return handler_; }

 private:
  void Note(std::string event) {
    if (events_ != nullptr) events_->push_back(std::move(event));
  }

  Clock& clock_;
  std::vector<std::string>* events_;
  http::Handler* handler_ = nullptr;
  std::shared_ptr<Completion<bool>> gone_ = Completion<bool>::Create();
};

}  // namespace keelson::server
