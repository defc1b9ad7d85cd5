// Addresses and prefixes from any text: what can be read is printed, read again and still the same.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ip_address.h"
#include "base/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto address = IpAddress::Parse(text)) {
    KEELSON_CHECK(IpAddress::Parse(address->ToString()) == address);
    if (names::CheckCanonicalIp(text).empty()) KEELSON_CHECK(address->ToString() == text);
  } else {
    KEELSON_CHECK(!names::CheckIp(text).empty());
  }
  if (const auto prefix = IpPrefix::Parse(text)) {
    const auto again = IpPrefix::Parse(prefix->ToString());
    KEELSON_CHECK(again && again->length == prefix->length);
    KEELSON_CHECK(prefix->Contains(again->address));
  }
  return 0;
}
