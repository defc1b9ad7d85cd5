#pragma once

// The grammar of HTTP/1.1 messages (RFC 9112), strict, without I/O. Shared by server and client.
//
// Everything that two parsers on one path could read differently is refused, since that is what
// request smuggling lives from: bare CR or LF, NUL and other controls, folded lines, white space
// before a colon, repeated or malformed Content-Length, Content-Length beside Transfer-Encoding,
// any coding but one "chunked", odd chunk sizes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "http/exchange.h"

namespace keelson::http {

// Why a message was refused: the status a server answers with, and a few words that may be shown.
struct H1Refusal {
  int status = 0;
  std::string_view reason;
};

// What the fields say about the framing and the connection.
struct H1Framing {
  std::optional<uint64_t> content_length;
  bool chunked = false;
  bool close = false;       // Connection: close
  bool keep_alive = false;  // Connection: keep-alive
  bool upgrade = false;     // Connection: upgrade
};

struct H1RequestHead {
  std::string_view method;
  std::string_view target;  // origin form; an absolute form is cut to it
  std::string_view host;
  int minor = 1;  // HTTP/1.minor
  bool expect_continue = false;
  H1Framing framing;
};

constexpr size_t kMaxHeaderFields = 2000;

bool IsToken(std::string_view text);
bool IsFieldValue(std::string_view text);
// Finds `token` in a comma-separated list, without regard to case.
bool ListContains(std::string_view list, std::string_view token);

// Finds the end of a head. `from` remembers how far earlier calls came; start with 0. Returns the
// length of the head with its empty line, 0 when there is more to come, npos for a bare LF or
// another sign that no head will come.
size_t FindHeadEnd(std::string_view bytes, size_t& from);

// Splits field lines (everything between the first line and the empty line). Names are lowered in
// place, hence the mutable bytes; views into them are added to `headers`.
std::optional<H1Refusal> ParseFields(char* begin, char* end, Headers& headers);
// Reads Content-Length, Transfer-Encoding and Connection.
std::optional<H1Refusal> ReadFraming(const Headers& headers, int minor, H1Framing& framing);

// Parses a whole request head, as delimited by FindHeadEnd.
std::optional<H1Refusal> ParseRequestHead(char* bytes, size_t size, H1RequestHead& head,
                                          Headers& headers);

// Decodes a chunked body piece by piece. Trailers are checked and dropped.
class ChunkDecoder {
 public:
  // Consumes from `input` and returns the next run of data, empty when input is used up, the body
  // has ended, or it is malformed.
  std::string_view Next(std::string_view& input);
  bool done() const { return state_ == State::kDone; }
  bool failed() const { return state_ == State::kFailed; }

 private:
  enum class State : uint8_t {
    kSize,
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailerName,
    kTrailerValue,
    kTrailerLf,
    kEndLf,
    kDone,
    kFailed,
  };
  void Step(char c);
  void StepSize(char c);
  void StepTrailer(char c);

  State state_ = State::kSize;
  uint8_t digits_ = 0;
  uint64_t left_ = 0;
  uint64_t overhead_ = 0;  // bytes of extensions and trailers, less what data excuses
};

}  // namespace keelson::http
