#pragma once

// One request and its answer on an HTTP/2 connection; private to h2_engine.cc and h2_stream.cc.

#include <deque>
#include <string_view>

#include "http/h2_engine.h"

namespace keelson::http {

class H2Engine::Stream final : public BodyReader, public ResponseWriter {
 public:
  Stream(H2Engine& engine, int32_t id);
  ~Stream() override;

  // --- from the engine
  // Takes one field of the request; false when the list is far past its limit.
  bool AddField(std::string_view name, std::string_view value);
  // The headers are whole. Returns a status to refuse with, or 0.
  int Prepare();
  void BodyPiece(std::string_view bytes);
  void BodyEnd();
  // nghttp2 has let go of the stream.
  void Closed();
  void HandlerDone(const std::string& failure);
  // Moves `size` bytes of the answer into the batch.
  void Take(size_t size, OutputBatch& batch);

  int32_t id() const { return id_; }
  bool open() const { return open_; }
  bool handler_done() const { return handler_done_; }
  bool started_handler() const { return handler_started_; }
  void MarkHandlerStarted() { handler_started_ = true; }
  bool answered() const { return ended_ && out_size_ == 0; }
  bool body_ended() const { return body_ended_; }
  Exchange& exchange() { return exchange_; }
  void Cancel() { engine_.cancels_.push_back(exchange_.cancelled); }
  // True the first time.
  bool Release() { return !std::exchange(released_, true); }

  Stream* next = nullptr;
  Stream** link = nullptr;  // in the engine's list

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
  void CloseConnection() override;
  void Abort() override;

 private:
  void SendHead(int status, std::optional<uint64_t> length, bool has_body);
  bool Queue(Slice slice);
  void Resume();
  ssize_t Available(size_t limit, uint32_t* flags);
  static ssize_t ReadAnswer(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t length,
                            uint32_t* flags, nghttp2_data_source* source, void* user);
  std::unexpected<Error> GoneError() const;

  H2Engine& engine_;
  const int32_t id_;
  Exchange exchange_;
  Headers pseudo_;
  size_t header_bytes_ = 0;

  std::deque<Slice> body_;
  bool body_ended_ = false;
  Waiter reader_;
  Waiter writer_;

  Headers headers_;
  int status_ = 0;
  std::vector<Slice> out_;
  size_t out_next_ = 0;    // first slice of out_ not yet taken
  size_t out_offset_ = 0;  // into it
  size_t out_size_ = 0;
  uint64_t body_sent_ = 0;
  std::optional<uint64_t> length_;
  bool bodyless_ = false;
  bool ended_ = false;
  bool deferred_ = false;  // nghttp2 waits for more of the answer
  bool open_ = true;
  bool handler_started_ = false;
  bool handler_done_ = false;
  bool released_ = false;
  bool in_body_ = false;  // nghttp2 asks for DATA
};

}  // namespace keelson::http
