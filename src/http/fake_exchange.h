#pragma once

// An exchange in memory: feeds a request to a handler and records the answer. For tests of
// handlers without sockets; everything runs on the calling thread inside Run and Settle.
//
//   FakeExchange fake("POST", "/api/v1/pods");
//   fake.AddHeader("accept", "application/json").Body("{}");
//   fake.Run(handler);
//   EXPECT_EQ(fake.status(), 201);

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/completion.h"
#include "base/executor.h"
#include "base/gate.h"
#include "http/exchange.h"

namespace keelson::http {

class FakeExchange final : private BodyReader, private ResponseWriter {
 public:
  explicit FakeExchange(std::string_view method = "GET", std::string_view target = "/");
  ~FakeExchange() override;

  // --- the request, before Run
  FakeExchange& AddHeader(std::string_view name, std::string_view value);
  // The whole body, with Content-Length.
  FakeExchange& Body(std::string_view bytes);
  // A body that stays open: pieces follow through Feed, the end through EndBody.
  FakeExchange& StreamBody();
  // How many queued response bytes the peer takes before Write suspends; unlimited by default.
  FakeExchange& Window(size_t bytes);
  ConnectionInfo& connection() { return connection_; }
  Exchange& exchange() { return exchange_; }

  // --- the course of events
  // Serves and runs until nothing moves. Returns true when the handler has finished.
  bool Run(Handler& handler);
  // Runs what became ready, for example after FakeClock::Advance.
  bool Settle();
  void Feed(std::string_view piece);
  void EndBody();
  // The peer takes `bytes` more of the answer.
  void Drain(size_t bytes);
  // The client disappears: reads and writes fail, `cancelled` is requested.
  void ClientGone();
  ManualExecutor& executor() { return executor_; }

  // --- the recorded answer
  bool finished() const { return handler_done_; }        // Serve has returned
  bool complete() const { return ended_ && !aborted_; }  // a whole answer was produced
  bool aborted() const { return aborted_; }
  bool close_requested() const { return close_; }
  bool upgraded() const { return upgraded_; }
  const std::string& exception() const { return exception_; }  // what() of one that escaped Serve
  int status() const override { return status_; }
  std::optional<std::string_view> Header(std::string_view name) const { return sent_.Get(name); }
  const Headers& sent_headers() const { return sent_; }
  const std::string& body() const { return answer_; }
  const std::vector<std::string>& writes() const { return writes_; }  // one entry per Write

 private:
  Task<void> ServeAndNote(Handler* handler);
  void SendHead(int status);
  void Take(const Slice& slice);

  // BodyReader
  Task<Result<Slice>> Read() override;
  std::optional<uint64_t> announced() const override { return exchange_.request.content_length; }
  // ResponseWriter
  Headers& headers() override { return headers_; }
  void Send(int status, std::vector<Slice> body) override;
  void Start(int status) override { SendHead(status); }
  Task<Result<void>> Write(std::vector<Slice> slices) override;
  Result<size_t> TryWrite(Slice slice) override;
  void Finish() override;
  Task<Result<std::unique_ptr<ByteStream>>> Upgrade() override;
  bool started() const override { return status_ != 0; }
  uint64_t bytes_sent() const override { return answer_.size(); }
  void CloseConnection() override { close_ = true; }
  void Abort() override { aborted_ = true; }

  ManualExecutor executor_;
  Gate gate_;
  std::deque<std::string> kept_;  // the request's text
  ConnectionInfo connection_;
  Exchange exchange_;

  std::deque<Slice> pieces_;
  bool body_ended_ = true;
  std::shared_ptr<Completion<bool>> reader_;
  std::shared_ptr<Completion<bool>> writer_;

  Headers headers_;  // as the handler builds them
  Headers sent_;     // as they were when the head went out
  int status_ = 0;
  std::string answer_;
  std::vector<std::string> writes_;
  size_t window_ = static_cast<size_t>(-1);
  size_t queued_ = 0;
  bool limited_ = false;
  bool ended_ = false;
  bool aborted_ = false;
  bool close_ = false;
  bool gone_ = false;
  bool upgraded_ = false;
  bool handler_done_ = false;
  std::string exception_;
};

}  // namespace keelson::http
