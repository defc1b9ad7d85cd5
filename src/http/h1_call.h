#pragma once

// One request and its answer on an HTTP/1.1 connection; private to h1_engine.cc and h1_call.cc.

#include <deque>
#include <string>
#include <string_view>

#include "http/h1_engine.h"

namespace keelson::http {

class H1Engine::Call final : public BodyReader, public ResponseWriter {
 public:
  Call(H1Engine& engine, std::string head_bytes) : engine_(engine), bytes_(std::move(head_bytes)) {}

  // Parses the head this call was made with and fills the exchange.
  std::optional<H1Refusal> Parse();

  // --- from the engine
  void BodyPiece(std::string_view bytes);
  void BodyEnd();
  // Nothing more will be received: readers fail, and with `broken` writers too. May free this.
  void PeerGone(Error why, bool broken);
  // Asks the handler to end; may free this.
  void Cancel();
  void OutputDrained();
  void HandlerDone(const std::string& failure);
  bool handler_done() const { return handler_done_; }
  bool answered() const { return ended_; }
  bool close_after() const { return close_; }
  void MustClose() { close_ = true; }
  size_t body_waiting() const { return body_size_; }
  const H1RequestHead& head() const { return head_; }
  Exchange& exchange() { return exchange_; }

  // --- BodyReader
  Task<Result<Slice>> Read() override;
  std::optional<uint64_t> announced() const override { return exchange_.request.content_length; }

  // --- ResponseWriter
  Headers& headers() override { return headers_; }
  void Send(int status, std::vector<Slice> body) override;
  void Start(int status) override;
  Task<Result<void>> Write(std::vector<Slice> slices) override;
  Result<size_t> TryWrite(Slice slice) override;
  void Finish() override;
  Task<Result<std::unique_ptr<ByteStream>>> Upgrade() override;
  bool started() const override { return status_ != 0; }
  int status() const override { return status_; }
  uint64_t bytes_sent() const override { return body_sent_; }
  void CloseConnection() override { close_ = true; }
  void Abort() override;

 private:
  void SendHead(int status, std::optional<uint64_t> length);
  bool QueueBody(Slice slice);
  std::unexpected<Error> GoneError() const;
  bool BodyWouldStall() const;

  H1Engine& engine_;
  std::string bytes_;  // the head; the request's views point here
  H1RequestHead head_;
  Exchange exchange_;

  std::deque<Slice> body_;
  size_t body_size_ = 0;
  bool body_ended_ = false;
  bool continue_owed_ = false;
  std::optional<Error> gone_;
  bool broken_ = false;
  Waiter reader_;
  Waiter writer_;

  Headers headers_;
  int status_ = 0;
  uint64_t body_sent_ = 0;
  std::optional<uint64_t> length_;  // of the answer, when known
  bool chunked_ = false;
  bool bodyless_ = false;  // HEAD, 204, 304
  bool ended_ = false;
  bool close_ = false;
  bool handler_done_ = false;
};

}  // namespace keelson::http
