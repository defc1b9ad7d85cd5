#pragma once

// A server that answers as a test says.

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/completion.h"
#include "client/transport.h"

namespace keelson::client::testing {

// An answer whose body comes in pieces, when the test says so.
class Body final : public http::BodyReader {
 public:
  Task<Result<Slice>> Read() override {
    while (pieces_.empty() && !ended_) {
      arrived_ = Completion<bool>::Create();
      co_await Completion<bool>::Wait(arrived_);
    }
    if (pieces_.empty()) {
      if (!failure_.empty()) co_return Fail(ErrorCode::kUnavailable, "{}", failure_);
      co_return Slice();
    }
    auto piece = std::move(pieces_.front());
    pieces_.pop_front();
    co_return Slice::Own(std::move(piece));
  }
  void Push(std::string piece) {
    pieces_.push_back(std::move(piece));
    Wake();
  }
  void End(std::string failure = {}) {
    ended_ = true;
    failure_ = std::move(failure);
    Wake();
  }

 private:
  void Wake() {
    if (auto arrived = std::exchange(arrived_, nullptr)) arrived->Set(true);
  }
  std::deque<std::string> pieces_;
  bool ended_ = false;
  std::string failure_;
  std::shared_ptr<Completion<bool>> arrived_;
};

class ScriptedAnswer final : public Answer {
 public:
  ScriptedAnswer(int status, std::shared_ptr<Body> body)
      : status_(status), body_(std::move(body)) {}
  int status() const override { return status_; }
  std::optional<std::string_view> Header(std::string_view) const override { return std::nullopt; }
  http::BodyReader& body() override { return *body_; }

 private:
  const int status_;
  std::shared_ptr<Body> body_;
};

class ScriptedTransport final : public Transport {
 public:
  struct Step {
    int status = 200;  // 0: no answer at all
    std::string text;
    bool open = false;  // the body goes on through `last`
  };
  std::deque<Step> steps;
  std::vector<Call> calls;
  std::shared_ptr<Body> last;  // the body of the last answer

  Task<Result<std::unique_ptr<Answer>>> Send(Call call) override {
    const auto stop = call.stop;
    calls.push_back(std::move(call));
    if (steps.empty()) co_return Fail(ErrorCode::kUnavailable, "connection refused");
    auto step = std::move(steps.front());
    steps.pop_front();
    if (step.status == 0) co_return Fail(ErrorCode::kUnavailable, "{}", step.text);
    last = std::make_shared<Body>();
    if (!step.text.empty()) last->Push(std::move(step.text));
    if (!step.open) last->End();
    co_return std::make_unique<ScriptedAnswer>(step.status, last);
  }
};

}  // namespace keelson::client::testing
