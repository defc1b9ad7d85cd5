// Whatever decodes stays below its prefix and survives being written again.

#include <cstdint>

#include "storage/continue_token.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson::storage;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto point = DecodeContinue(text);
  if (!point) return 0;
  KEELSON_CHECK(!point->start.starts_with("../") && point->start.find("/../") == std::string::npos);
  auto again = DecodeContinue(EncodeContinue(point->revision, "/" + point->start));
  KEELSON_CHECK(again.has_value() && again->revision == point->revision);
  return 0;
}
