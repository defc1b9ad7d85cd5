#include "grpc/channel.h"

namespace keelson::grpc {
namespace {

http::ClientRequest MakeRequest(const std::string& origin, const std::string& method,
                                CallOptions& options) {
  http::ClientRequest request{.method = "POST", .url = origin + method};
  request.headers.AddView("content-type", "application/grpc");
  request.headers.AddView("te", "trailers");
  request.headers.AddView("user-agent", "keelson");
  if (options.timeout) request.headers.Add("grpc-timeout", EncodeTimeout(*options.timeout));
  for (const auto& [name, value] : options.metadata) request.headers.Add(name, value);
  request.timeout = options.timeout;
  request.stop = std::move(options.stop);
  return request;
}

}  // namespace

Task<CallResult<void>> Stream::Write(std::string message) {
  stream_.Queue(Slice::Own(MessageHeader(message.size())));
  auto written = co_await stream_.Write(Slice::Own(std::move(message)));
  if (!written) co_return std::unexpected(Lost(written.error()));
  co_return CallResult<void>();
}

void Stream::Queue(std::string message) {
  stream_.Queue(Slice::Own(MessageHeader(message.size())));
  stream_.Queue(Slice::Own(std::move(message)));
}

Task<CallResult<void>> Stream::AwaitHead() {
  auto response = co_await stream_.Answer();
  if (!response) co_return std::unexpected(Lost(response.error()));
  response_.emplace(*std::move(response));
  if (response_->status() != 200) co_return std::unexpected(FromHttpStatus(response_->status()));
  auto type = response_->headers().Get("content-type").value_or("");
  if (!type.starts_with("application/grpc")) {
    co_return std::unexpected(Failure{
        Code::kUnknown, fmt::format("received unexpected content-type \"{}\"", type), false, true});
  }
  co_return CallResult<void>();
}

// An answer without a body carries its status in the head.
CallResult<void> Stream::End() const {
  const auto& trailers = response_->trailers();
  return ReadStatus(trailers.Has("grpc-status") ? trailers : response_->headers());
}

Task<CallResult<std::optional<Slice>>> Stream::Read() {
  if (ended_) co_return std::nullopt;
  if (!response_) {
    auto head = co_await AwaitHead();
    if (!head) co_return std::unexpected(head.error());
  }
  for (;;) {
    auto message = reader_.Take();
    if (!message || *message) co_return message;
    auto piece = co_await response_->body().Read();
    if (!piece) co_return std::unexpected(Lost(piece.error()));
    if (!piece->empty()) {
      reader_.Put(*std::move(piece));
      continue;
    }
    ended_ = true;
    auto end = End();
    if (!end) co_return std::unexpected(end.error());
    if (!reader_.between_messages()) {
      co_return std::unexpected(
          Failure{Code::kInternal, "the stream ends inside a message", false, true});
    }
    co_return std::nullopt;
  }
}

Task<CallResult<std::unique_ptr<Stream>>> Channel::Open(std::string method, CallOptions options) {
  const size_t max_message = options.max_message;
  auto stream = co_await client_.Open(MakeRequest(origin_, method, options));
  if (!stream) co_return std::unexpected(FromTransport(stream.error(), /*unsent=*/true));
  co_return std::make_unique<Stream>(*std::move(stream), max_message);
}

Task<CallResult<Slice>> Channel::Call(std::string method, Slice message, CallOptions options) {
  const size_t max_message = options.max_message;
  auto request = MakeRequest(origin_, method, options);
  request.body = {Slice::Own(MessageHeader(message.size())), std::move(message)};
  auto opened = co_await client_.Open(std::move(request));
  if (!opened) co_return std::unexpected(FromTransport(opened.error(), /*unsent=*/true));
  Stream stream(*std::move(opened), max_message);
  stream.Finish();
  auto answer = co_await stream.Read();
  if (!answer) co_return std::unexpected(answer.error());
  if (!*answer) {
    co_return std::unexpected(Failure{Code::kInternal, "a call without an answer", false, true});
  }
  auto end = co_await stream.Read();
  if (!end) co_return std::unexpected(end.error());
  if (*end) {
    co_return std::unexpected(Failure{Code::kInternal, "a call with two answers", false, true});
  }
  co_return **std::move(answer);
}

}  // namespace keelson::grpc
