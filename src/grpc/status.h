#pragma once

// How a gRPC call ends: a code, and a sentence when it is not kOk. As values of their own, because
// callers need to know what no other protocol says: whether the call may have had an effect.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "http/exchange.h"

namespace keelson::grpc {

// The numbers are those of the wire.
enum class Code : uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "Unavailable", as Go prints it.
std::string_view CodeName(Code code);

struct Failure {
  Code code = Code::kUnknown;
  std::string message;
  bool unsent = false;     // the peer did nothing with the call: it may be made again
  bool from_peer = false;  // the peer itself said so; otherwise it could not be heard

  // "rpc error: code = Unavailable desc = ..."
  std::string ToString() const;
};

template <typename T>
using CallResult = Result<T, Failure>;

// What trailers, or a head without a body, say: nothing for success.
CallResult<void> ReadStatus(const http::Headers& trailers);
// What an answer that is no gRPC answer amounts to.
Failure FromHttpStatus(int status);
// A failure of the transport; the other side was not heard.
Failure FromTransport(const Error& error, bool unsent);

// grpc-message is percent-encoded; what does not decode stays as it is.
std::string DecodeMessage(std::string_view text);

// The value of grpc-timeout: at most eight digits and a unit, rounded up.
std::string EncodeTimeout(Duration timeout);

}  // namespace keelson::grpc
