#include "rest/answer_stream.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace keelson::rest {
namespace {

void SayCompressed(http::Headers& headers) {
  headers.AddView("content-encoding", "gzip");
  headers.AddView("vary", "Accept-Encoding");
}

}  // namespace

bool AcceptsGzip(const http::Request& request) {
  auto rest = request.headers.Get("accept-encoding").value_or("");
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    auto token = rest.substr(0, comma);
    while (token.starts_with(' ') || token.starts_with('\t')) token.remove_prefix(1);
    while (token.ends_with(' ') || token.ends_with('\t')) token.remove_suffix(1);
    if (token == "gzip") return true;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return false;
}

std::vector<Slice> MaybeCompress(const http::Request& request, http::Headers& headers,
                                 std::vector<Slice> body) {
  if (TotalSize(body) <= AnswerStream::kHeldBytes || !AcceptsGzip(request)) return body;
  SayCompressed(headers);
  GzipStream gzip;
  std::string out;
  for (const auto& slice : body) gzip.Append(slice.view(), out);
  gzip.Finish(out);
  return {Slice::Own(std::move(out))};
}

AnswerStream::AnswerStream(const http::Request& request, http::ResponseWriter& response, int code,
                           std::string_view content_type)
    : response_(response), code_(code), accepts_gzip_(AcceptsGzip(request)) {
  response_.headers().AddView("content-type", content_type);
}

Task<bool> AnswerStream::Write(std::vector<Slice> slices) {
  if (response_.started()) co_return co_await WriteOn(std::move(slices));
  held_size_ += TotalSize(slices);
  std::ranges::move(slices, std::back_inserter(held_));
  co_return held_size_ <= kHeldBytes || co_await Start();
}

Task<bool> AnswerStream::Start() {
  if (accepts_gzip_) {
    SayCompressed(response_.headers());
    gzip_ = std::make_unique<GzipStream>();
  }
  response_.Start(code_);
  co_return co_await WriteOn(std::exchange(held_, {}));
}

Task<bool> AnswerStream::WriteOn(std::vector<Slice> slices) {
  if (gzip_) {
    std::string out;
    for (const auto& slice : slices) gzip_->Append(slice.view(), out);
    if (out.empty()) co_return true;
    slices.clear();
    slices.push_back(Slice::Own(std::move(out)));
  }
  co_return (co_await response_.Write(std::move(slices))).has_value();
}

Task<void> AnswerStream::Finish(std::vector<Slice> last) {
  if (!co_await Write(std::move(last))) co_return;
  if (!response_.started()) co_return response_.Send(code_, std::move(held_));
  if (gzip_) {
    std::string out;
    gzip_->Finish(out);
    std::vector<Slice> end;
    end.push_back(Slice::Own(std::move(out)));
    if (!co_await response_.Write(std::move(end))) co_return;
  }
  response_.Finish();
}

}  // namespace keelson::rest
