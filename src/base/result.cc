#include "base/result.h"

#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace keelson {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "Invalid";
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kAlreadyExists:
      return "AlreadyExists";
    case ErrorCode::kConflict:
      return "Conflict";
    case ErrorCode::kExpired:
      return "Expired";
    case ErrorCode::kDenied:
      return "Denied";
    case ErrorCode::kTooLarge:
      return "TooLarge";
    case ErrorCode::kExhausted:
      return "Exhausted";
    case ErrorCode::kCancelled:
      return "Cancelled";
    case ErrorCode::kTimeout:
      return "Timeout";
    case ErrorCode::kUnavailable:
      return "Unavailable";
    case ErrorCode::kCorrupt:
      return "Corrupt";
    case ErrorCode::kIo:
      return "Io";
    case ErrorCode::kUnsupported:
      return "Unsupported";
    case ErrorCode::kInternal:
      return "Internal";
  }
  return "Unknown";
}

std::unexpected<Error> Annotate(Error error, std::string_view doing) {
  error.message = fmt::format("{}: {}", doing, error.message);
  return std::unexpected(std::move(error));
}

std::unexpected<Error> FailErrno(int error_number, std::string_view doing) {
  return Fail(ErrorCode::kIo, "{}: {}", doing, std::generic_category().message(error_number));
}

namespace internal {

void CheckFailed(std::string_view expression, std::source_location where) {
  fmt::print(stderr, "{}:{}: invariant broken in {}: {}\n", where.file_name(), where.line(),
             where.function_name(), expression);
  std::abort();
}

}  // namespace internal
}  // namespace keelson
