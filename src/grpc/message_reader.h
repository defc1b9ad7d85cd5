#pragma once

// Messages out of the bytes of a gRPC body. Each is preceded by five bytes: 0, or 1 when it is
// compressed, which we never ask for, and its size, most significant byte first.
//
// A message that arrives in one piece is handed on without copying. Pure; one thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "grpc/status.h"

namespace keelson::grpc {

inline constexpr size_t kMessageHeader = 5;

// The five bytes in front of a message of this size.
std::string MessageHeader(size_t size);

class MessageReader {
 public:
  // A message larger than `limit` fails the call before any of it is kept.
  explicit MessageReader(size_t limit) : limit_(limit) {}

  // The next piece of the body. Messages must be taken before the next one is put.
  void Put(Slice piece);
  // The next whole message; nothing when more bytes are needed.
  CallResult<std::optional<Slice>> Take();
  // The body may end here.
  bool between_messages() const { return piece_.empty() && header_size_ == 0; }

 private:
  CallResult<bool> TakeHeader();

  const size_t limit_;
  Slice piece_;  // not yet looked at
  char header_[kMessageHeader];
  size_t header_size_ = 0;
  uint32_t size_ = 0;  // of the message under way, once its header is whole
  std::string partial_;
};

}  // namespace keelson::grpc
