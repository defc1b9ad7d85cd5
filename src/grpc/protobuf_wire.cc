#include "grpc/protobuf_wire.h"

#include <limits>

namespace keelson::grpc {
namespace {

enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

}  // namespace

bool FieldReader::Varint(uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool FieldReader::Skip(size_t size) {
  if (size > rest_.size()) return false;
  rest_.remove_prefix(size);
  return true;
}

bool FieldReader::Next() {
  if (!ok_ || rest_.empty()) return false;
  uint64_t tag = 0;
  value_ = 0;
  bytes_ = {};
  ok_ = Varint(tag) && tag >> 3 != 0 && tag >> 3 <= std::numeric_limits<uint32_t>::max();
  if (!ok_) return false;
  number_ = static_cast<uint32_t>(tag >> 3);
  switch (tag & 7) {
    case kVarint:
      ok_ = Varint(value_);
      break;
    case kFixed64:
      ok_ = Skip(8);
      break;
    case kFixed32:
      ok_ = Skip(4);
      break;
    case kBytes: {
      uint64_t size = 0;
      ok_ = Varint(size) && size <= rest_.size();
      if (ok_) {
        bytes_ = rest_.substr(0, size);
        rest_.remove_prefix(size);
      }
      break;
    }
    default:
      ok_ = false;
  }
  return ok_;
}

}  // namespace keelson::grpc
