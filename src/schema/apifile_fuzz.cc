// Any bytes either parse or give an error that names a place; nothing else may happen.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "schema/apifile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto file = keelson::schema::ParseApiFile("fuzz.api", text);
  if (!file) {
    KEELSON_CHECK(file.error().message.starts_with("fuzz.api:"));
  } else {
    KEELSON_CHECK(!file->name.empty());
  }
  return 0;
}
