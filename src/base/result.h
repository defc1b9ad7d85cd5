#pragma once

// Failure as a value.
//
// Untrusted input and the world's failures travel as Result<T>; a broken invariant aborts through
// CHECK. An Error carries a coarse code that callers may branch on and one sentence for people.
// Modules that need finer distinctions define their own error type and use Result<T, ThatError>.

#include <fmt/format.h>

#include <expected>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

namespace keelson {

enum class ErrorCode {
  kInvalid,        // the caller's input is malformed
  kNotFound,       // the named thing does not exist
  kAlreadyExists,  // the named thing exists
  kConflict,       // a precondition on current state failed
  kExpired,        // the asked state is gone (compacted, rotated)
  kDenied,         // identity or permission
  kTooLarge,       // a limit on size, depth or count was passed
  kExhausted,      // a quota or budget is used up; may be retried later
  kCancelled,      // the caller gave up
  kTimeout,        // the deadline passed
  kUnavailable,    // the other side cannot be reached; may be retried
  kCorrupt,        // stored or received data contradicts its own checksum or format
  kIo,             // the operating system refused
  kUnsupported,    // well formed, but not offered here
  kInternal,       // a defect of this program, contained
};

std::string_view ErrorCodeName(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  bool operator==(const Error&) const = default;
};

template <typename T, typename E = Error>
using Result = std::expected<T, E>;

// return Fail(ErrorCode::kInvalid, "port {} is out of range", port);
template <typename... Args>
std::unexpected<Error> Fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

// The same failure with what was being done in front of it: "opening /etc/x: no such file".
std::unexpected<Error> Annotate(Error error, std::string_view doing);

// An Error from errno.
std::unexpected<Error> FailErrno(int error_number, std::string_view doing);

namespace internal {
[[noreturn]] void CheckFailed(std::string_view expression, std::source_location where);
}  // namespace internal

}  // namespace keelson

// Aborts with a message when an invariant does not hold. Always on.
#define KEELSON_CHECK(condition)                                                       \
  do {                                                                                 \
    if (!(condition)) [[unlikely]]                                                     \
      ::keelson::internal::CheckFailed(#condition, ::std::source_location::current()); \
  } while (false)

#define KEELSON_CONCAT_INNER(a, b) a##b
#define KEELSON_CONCAT(a, b) KEELSON_CONCAT_INNER(a, b)

#define KEELSON_TRY_IMPL(result, declaration, return_word, ...)          \
  auto result = (__VA_ARGS__);                                           \
  if (!result) return_word ::std::unexpected(std::move(result).error()); \
  declaration = *std::move(result)

// TRY(auto port, ParsePort(text)); binds the value or returns the error from this function.
#define TRY(declaration, ...) \
  KEELSON_TRY_IMPL(KEELSON_CONCAT(try_result_, __LINE__), declaration, return, __VA_ARGS__)
// The same inside a coroutine.
#define CO_TRY(declaration, ...) \
  KEELSON_TRY_IMPL(KEELSON_CONCAT(try_result_, __LINE__), declaration, co_return, __VA_ARGS__)

// TRY_VOID(Validate(options)); returns the error, if any, of a Result<void>.
#define TRY_VOID(...)                                          \
  do {                                                         \
    if (auto try_result = (__VA_ARGS__); !try_result)          \
      return ::std::unexpected(std::move(try_result).error()); \
  } while (false)
#define CO_TRY_VOID(...)                                          \
  do {                                                            \
    if (auto try_result = (__VA_ARGS__); !try_result)             \
      co_return ::std::unexpected(std::move(try_result).error()); \
  } while (false)
