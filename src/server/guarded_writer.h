#pragma once

// A ResponseWriter that can be taken away from its user.
//
// When a request times out the server answers in the endpoint's place and cuts this writer: what
// the endpoint still says goes nowhere, its writes fail, and the transport never sees two answers.

#include <memory>
#include <vector>

#include "http/exchange.h"

namespace keelson::server {

class GuardedWriter final : public http::ResponseWriter {
 public:
  explicit GuardedWriter(http::ResponseWriter& inner) : inner_(inner) {}

  http::Headers& headers() override { return cut_ ? discarded_ : inner_.headers(); }
  void Send(int status, std::vector<Slice> body) override {
    if (!cut_) inner_.Send(status, std::move(body));
  }
  void Start(int status) override {
    if (!cut_) inner_.Start(status);
  }
  Task<Result<void>> Write(std::vector<Slice> slices) override {
    return cut_ ? Refuse() : inner_.Write(std::move(slices));
  }
  Result<size_t> TryWrite(Slice slice) override {
    if (cut_) return Fail(ErrorCode::kTimeout, "the request has timed out");
    return inner_.TryWrite(std::move(slice));
  }
  void Finish() override {
    if (!cut_) inner_.Finish();
  }
  Task<Result<std::unique_ptr<http::ByteStream>>> Upgrade() override {
    return cut_ ? RefuseUpgrade() : inner_.Upgrade();
  }
  bool started() const override { return cut_ || inner_.started(); }
  int status() const override { return inner_.status(); }
  uint64_t bytes_sent() const override { return inner_.bytes_sent(); }
  void CloseConnection() override { inner_.CloseConnection(); }
  void Abort() override { inner_.Abort(); }

  // From here on the user is ignored.
  void Cut() { cut_ = true; }
  bool cut() const { return cut_; }
  http::ResponseWriter& inner() { return inner_; }

 private:
  static Task<Result<void>> Refuse() {
    co_return Fail(ErrorCode::kTimeout, "the request has timed out");
  }
  static Task<Result<std::unique_ptr<http::ByteStream>>> RefuseUpgrade() {
    co_return Fail(ErrorCode::kTimeout, "the request has timed out");
  }

  http::ResponseWriter& inner_;
  http::Headers discarded_;
  bool cut_ = false;
};

}  // namespace keelson::server
