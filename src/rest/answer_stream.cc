#include "rest/answer_stream.h"

#include <iterator>
#include <utility>

namespace keelson::rest {

AnswerStream::AnswerStream(const http::Request& request, http::ResponseWriter& response, int code,
                           std::string_view content_type)
    : response_(response), code_(code) {
  response_.headers().AddView("content-type", content_type);
}

Task<bool> AnswerStream::Write(std::vector<Slice> slices) {
  if (response_.started()) co_return (co_await response_.Write(std::move(slices))).has_value();
  held_size_ += TotalSize(slices);
  std::ranges::move(slices, std::back_inserter(held_));
  if (held_size_ <= kHeldBytes) co_return true;
  response_.Start(code_);
  co_return (co_await response_.Write(std::exchange(held_, {}))).has_value();
}

Task<void> AnswerStream::Finish(std::vector<Slice> last) {
  if (!co_await Write(std::move(last))) co_return;
  if (response_.started()) {
    response_.Finish();
  } else {
    response_.Send(code_, std::move(held_));
  }
}

}  // namespace keelson::rest
