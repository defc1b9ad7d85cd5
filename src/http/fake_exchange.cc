#include "http/fake_exchange.h"

#include <algorithm>
#include <exception>

namespace keelson::http {
namespace {

std::unexpected<Error> Gone() { return Fail(ErrorCode::kCancelled, "the client went away"); }

}  // namespace

FakeExchange::FakeExchange(std::string_view method, std::string_view target) {
  auto& request = exchange_.request;
  request.method = kept_.emplace_back(method);
  request.target = kept_.emplace_back(target);
  auto question = request.target.find('?');
  request.path = request.target.substr(0, question);
  if (question != std::string_view::npos) request.raw_query = request.target.substr(question + 1);
  request.host = "localhost";
  request.connection = &connection_;
  connection_.remote_address = "127.0.0.1:1";
  connection_.local_address = "127.0.0.1:2";
  exchange_.body = this;
  exchange_.response = this;
  exchange_.executor = &executor_;
}

FakeExchange::~FakeExchange() {
  ClientGone();
  Settle();
  KEELSON_CHECK(gate_.active() == 0);  // a handler must end once its client is gone
  gate_.CloseAndWait();
}

FakeExchange& FakeExchange::AddHeader(std::string_view name, std::string_view value) {
  auto& lower = kept_.emplace_back(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  });
  exchange_.request.headers.AddView(lower, kept_.emplace_back(value));
  return *this;
}

FakeExchange& FakeExchange::Body(std::string_view bytes) {
  exchange_.request.content_length = bytes.size();
  AddHeader("content-length", std::to_string(bytes.size()));
  if (!bytes.empty()) pieces_.push_back(Slice::Copy(bytes));
  return *this;
}

FakeExchange& FakeExchange::StreamBody() {
  body_ended_ = false;
  return *this;
}

FakeExchange& FakeExchange::Window(size_t bytes) {
  window_ = bytes;
  limited_ = true;
  return *this;
}

Task<void> FakeExchange::ServeAndNote(Handler* handler) {
  try {
    co_await handler->Serve(exchange_);
  } catch (const std::exception& e) {
    exception_ = e.what();
    aborted_ = true;
  } catch (...) {
    exception_ = "unknown exception";
    aborted_ = true;
  }
  handler_done_ = true;
}

bool FakeExchange::Run(Handler& handler) {
  KEELSON_CHECK(gate_.Spawn(&executor_, ServeAndNote(&handler)));
  return Settle();
}

bool FakeExchange::Settle() {
  executor_.RunUntilIdle();
  return handler_done_;
}

void FakeExchange::Feed(std::string_view piece) {
  pieces_.push_back(Slice::Copy(piece));
  if (auto waiting = std::exchange(reader_, nullptr)) waiting->Set(true);
  Settle();
}

void FakeExchange::EndBody() {
  body_ended_ = true;
  if (auto waiting = std::exchange(reader_, nullptr)) waiting->Set(true);
  Settle();
}

void FakeExchange::Drain(size_t bytes) {
  queued_ -= std::min(queued_, bytes);
  if (queued_ <= window_) {
    if (auto waiting = std::exchange(writer_, nullptr)) waiting->Set(true);
  }
  Settle();
}

void FakeExchange::ClientGone() {
  gone_ = true;
  exchange_.cancelled.request_stop();
  if (auto waiting = std::exchange(reader_, nullptr)) waiting->Set(false);
  if (auto waiting = std::exchange(writer_, nullptr)) waiting->Set(false);
  Settle();
}

Task<Result<Slice>> FakeExchange::Read() {
  while (pieces_.empty() && !body_ended_ && !gone_) {
    reader_ = Completion<bool>::Create();
    co_await Completion<bool>::Wait(reader_);
  }
  if (gone_) co_return Gone();
  if (pieces_.empty()) co_return Slice();
  Slice piece = std::move(pieces_.front());
  pieces_.pop_front();
  co_return piece;
}

void FakeExchange::SendHead(int status) {
  KEELSON_CHECK(status_ == 0);
  status_ = status;
  for (const auto& field : headers_.fields()) sent_.Add(field.name, field.value);
}

void FakeExchange::Take(const Slice& slice) {
  answer_ += slice.view();
  if (limited_) queued_ += slice.size();
}

void FakeExchange::Send(int status, std::vector<Slice> body) {
  headers_.Set("content-length", std::to_string(TotalSize(body)));
  SendHead(status);
  for (const auto& slice : body) Take(slice);
  ended_ = true;
}

Task<Result<void>> FakeExchange::Write(std::vector<Slice> slices) {
  KEELSON_CHECK(started() && !ended_);
  if (gone_ || aborted_) co_return Gone();
  for (const auto& slice : slices) Take(slice);
  writes_.push_back(Flatten(slices));
  while (queued_ > window_ && !gone_) {
    writer_ = Completion<bool>::Create();
    co_await Completion<bool>::Wait(writer_);
  }
  if (gone_) co_return Gone();
  co_return Result<void>();
}

Result<size_t> FakeExchange::TryWrite(Slice slice) {
  KEELSON_CHECK(started() && !ended_);
  if (gone_ || aborted_) return Gone();
  Take(slice);
  writes_.emplace_back(slice.view());
  return queued_;
}

void FakeExchange::Finish() {
  KEELSON_CHECK(started() && !ended_);
  ended_ = true;
}

Task<Result<std::unique_ptr<ByteStream>>> FakeExchange::Upgrade() {
  // A test of tunnels needs a real connection; here it is enough that a handler got this far.
  upgraded_ = true;
  SendHead(101);
  co_return Fail(ErrorCode::kUnsupported, "an exchange in memory has no connection to hand over");
}

}  // namespace keelson::http
