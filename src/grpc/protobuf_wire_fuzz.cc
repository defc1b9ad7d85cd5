// Any bytes as a protobuf message: everything read lies inside of them, and reading ends.

#include <cstdint>

#include "base/result.h"
#include "grpc/message_reader.h"
#include "grpc/protobuf_wire.h"

namespace {

void Walk(std::string_view message, int depth) {
  keelson::grpc::FieldReader fields(message);
  size_t seen = 0;
  while (fields.Next()) {
    ++seen;
    auto bytes = fields.AsBytes();
    KEELSON_CHECK(bytes.empty() ||
                  (bytes.data() >= message.data() &&
                   bytes.data() + bytes.size() <= message.data() + message.size()));
    if (depth > 0) Walk(bytes, depth - 1);
  }
  KEELSON_CHECK(seen <= message.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using keelson::Slice;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Walk(bytes, 4);
  // The same bytes as a body that arrives in two pieces.
  keelson::grpc::MessageReader reader(1000);
  for (auto piece : {bytes.substr(0, size / 3), bytes.substr(size / 3)}) {
    if (piece.empty()) continue;
    reader.Put(Slice::Copy(piece));
    for (;;) {
      auto message = reader.Take();
      if (!message) return 0;
      if (!*message) break;
      KEELSON_CHECK((*message)->size() <= 1000);
    }
  }
  return 0;
}
