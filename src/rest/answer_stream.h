#pragma once

// AnswerStream: an answer that is sent while it is being made.
//
// Up to 128 KiB are held back. An answer that ends by then goes out whole, with its length. A
// longer one is streamed, waiting whenever the client does not keep up, so that what is in memory
// does not grow with it.

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/task.h"
#include "http/exchange.h"
#include "rest/gzip_stream.h"

namespace keelson::rest {

// Whether the client names gzip among the encodings it accepts. Upstream ignores weights.
bool AcceptsGzip(const http::Request& request);

// A whole answer, compressed when that pays and is wanted. Sets the headers that say so.
std::vector<Slice> MaybeCompress(const http::Request& request, http::Headers& headers,
                                 std::vector<Slice> body);

class AnswerStream {
 public:
  static constexpr size_t kHeldBytes = 128 * 1024;
  // A good size for the pieces that Write gets.
  static constexpr size_t kPageBytes = 128 * 1024;

  // `content_type` and `response` outlive it.
  AnswerStream(const http::Request& request, http::ResponseWriter& response, int code,
               std::string_view content_type);

  // False once the client is gone: then there is no use in making more.
  Task<bool> Write(std::vector<Slice> slices);
  Task<void> Finish(std::vector<Slice> last);

 private:
  Task<bool> Start();
  Task<bool> WriteOn(std::vector<Slice> slices);

  http::ResponseWriter& response_;
  const int code_;
  const bool accepts_gzip_;
  std::unique_ptr<GzipStream> gzip_;  // once started, when compressing
  std::vector<Slice> held_;
  size_t held_size_ = 0;
};

}  // namespace keelson::rest
