#include "grpc/message_reader.h"

#include <algorithm>
#include <cstring>

namespace keelson::grpc {
namespace {

// A message announces its size; memory is taken only as fast as it really arrives.
constexpr size_t kReserveAtMost = size_t{1} << 20;

}  // namespace

std::string MessageHeader(size_t size) {
  std::string header(kMessageHeader, '\0');
  for (int i = 0; i < 4; ++i) header[1 + i] = static_cast<char>(size >> (24 - 8 * i));
  return header;
}

void MessageReader::Put(Slice piece) {
  KEELSON_CHECK(piece_.empty());
  piece_ = std::move(piece);
}

CallResult<bool> MessageReader::TakeHeader() {
  if (header_size_ == kMessageHeader) return true;
  if (piece_.empty()) return false;
  size_t take = std::min(kMessageHeader - header_size_, piece_.size());
  std::memcpy(header_ + header_size_, piece_.data(), take);
  header_size_ += take;
  piece_ = piece_.Sub(take);
  if (header_size_ < kMessageHeader) return false;
  if (header_[0] != 0) {
    return std::unexpected(
        Failure{Code::kInternal, "a compressed message nobody asked for", false, true});
  }
  size_ = 0;
  for (int i = 1; i < 5; ++i) size_ = size_ << 8 | static_cast<uint8_t>(header_[i]);
  if (size_ > limit_) {
    return std::unexpected(
        Failure{Code::kResourceExhausted,
                fmt::format("grpc: received message larger than max ({} vs. {})", size_, limit_),
                false, false});
  }
  partial_.reserve(std::min<size_t>(size_, kReserveAtMost));
  return true;
}

CallResult<std::optional<Slice>> MessageReader::Take() {
  auto whole = TakeHeader();
  if (!whole) return std::unexpected(whole.error());
  if (!*whole) return std::nullopt;
  if (partial_.empty() && piece_.size() >= size_) {
    Slice message = piece_.Sub(0, size_);
    piece_ = piece_.Sub(size_);
    header_size_ = 0;
    return message;
  }
  size_t take = std::min<size_t>(size_ - partial_.size(), piece_.size());
  partial_.append(piece_.data(), take);
  piece_ = piece_.Sub(take);
  if (partial_.size() < size_) return std::nullopt;
  header_size_ = 0;
  return Slice::Own(std::exchange(partial_, {}));
}

}  // namespace keelson::grpc
