// Any bytes as each of etcd's answers: what is decoded lies inside of them.

#include <cstdint>

#include "kv/etcd/messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson;            // NOLINT(google-build-using-namespace)
  using namespace keelson::kv::etcd;  // NOLINT(google-build-using-namespace)
  Slice message = Slice::Copy({reinterpret_cast<const char*>(data), size});
  auto inside = [&](const kv::KeyValue& kv) {
    for (const auto& part : {kv.key, kv.value}) {
      KEELSON_CHECK(part.empty() || (part.data() >= message.data() &&
                                     part.data() + part.size() <= message.data() + size));
    }
  };
  if (auto range = DecodeRange(message)) {
    for (const auto& kv : range->items) inside(kv);
  }
  if (auto watch = DecodeWatch(message)) {
    for (const auto& event : watch->events) {
      inside(event.kv);
      inside(event.previous);
    }
  }
  kv::Transaction transaction;
  transaction.read_on_failure = {"k"};
  if (auto result = DecodeTransaction(message, transaction)) {
    for (const auto& kv : result->current) inside(kv);
  }
  (void)DecodeTimeToLive(message);
  (void)DecodeStatus(message);
  (void)DecodeHeader(message);
  return 0;
}
