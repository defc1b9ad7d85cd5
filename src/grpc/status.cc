#include "grpc/status.h"

#include <array>
#include <charconv>

namespace keelson::grpc {
namespace {

constexpr std::array<std::string_view, 17> kNames = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string_view CodeName(Code code) { return kNames[static_cast<size_t>(code)]; }

std::string Failure::ToString() const {
  return fmt::format("rpc error: code = {} desc = {}", CodeName(code), message);
}

CallResult<void> ReadStatus(const http::Headers& trailers) {
  auto text = trailers.Get("grpc-status");
  if (!text) {
    return std::unexpected(
        Failure{Code::kInternal, "server closed the stream without sending trailers", false, true});
  }
  unsigned code = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), code);
  if (error != std::errc() || end != text->data() + text->size()) {
    return std::unexpected(
        Failure{Code::kUnknown, fmt::format("malformed grpc-status: {}", *text), false, true});
  }
  if (code == 0) return {};
  // A code that nobody knows is one that is not known.
  Code known = code < kNames.size() ? static_cast<Code>(code) : Code::kUnknown;
  auto message = DecodeMessage(trailers.Get("grpc-message").value_or(""));
  return std::unexpected(Failure{known, std::move(message), false, true});
}

Failure FromHttpStatus(int status) {
  Code code = Code::kUnknown;
  switch (status) {
    case 400:
      code = Code::kInternal;
      break;
    case 401:
      code = Code::kUnauthenticated;
      break;
    case 403:
      code = Code::kPermissionDenied;
      break;
    case 404:
      code = Code::kUnimplemented;
      break;
    case 429:
    case 502:
    case 503:
    case 504:
      code = Code::kUnavailable;
      break;
    default:
      break;
  }
  return {code, fmt::format("unexpected HTTP status code received from server: {}", status), false,
          true};
}

Failure FromTransport(const Error& error, bool unsent) {
  Code code = Code::kUnavailable;
  if (error.code == ErrorCode::kTimeout) code = Code::kDeadlineExceeded;
  if (error.code == ErrorCode::kCancelled) code = Code::kCancelled;
  if (error.code == ErrorCode::kTooLarge) code = Code::kResourceExhausted;
  if (error.code == ErrorCode::kInvalid) code = Code::kInternal;
  return {code, error.message, unsent, false};
}

std::string DecodeMessage(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    int high = -1, low = -1;
    if (text[i] == '%' && i + 2 < text.size()) {
      high = HexDigit(text[i + 1]);
      low = HexDigit(text[i + 2]);
    }
    if (high < 0 || low < 0) {
      out.push_back(text[i]);
      continue;
    }
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

std::string EncodeTimeout(Duration timeout) {
  static constexpr struct {
    char name;
    int64_t nanos;
  } kUnits[] = {{'n', 1},
                {'u', 1'000},
                {'m', 1'000'000},
                {'S', 1'000'000'000},
                {'M', 60'000'000'000},
                {'H', 3'600'000'000'000}};
  constexpr int64_t kMost = 99'999'999;
  const int64_t nanos = std::max<int64_t>(timeout.count(), 0);
  for (const auto& unit : kUnits) {
    int64_t count = nanos / unit.nanos + (nanos % unit.nanos != 0 ? 1 : 0);
    if (count <= kMost) return fmt::format("{}{}", count, unit.name);
  }
  return fmt::format("{}H", kMost);
}

}  // namespace keelson::grpc
