// A text either parses, and then writing and parsing again changes nothing, or it has a syntax
// error with a message.

#include "value/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson::value;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto doc = ParseJson(text);
  if (!doc) {
    KEELSON_CHECK(!doc.error().message.empty());
    return 0;
  }
  KEELSON_CHECK(JsonSyntaxError(text).empty());
  std::string written = ToJson(doc->root());
  auto again = ParseJson(written);
  KEELSON_CHECK(again.has_value());
  std::string second = ToJson(again->root());
  auto third = ParseJson(second);
  KEELSON_CHECK(third.has_value());
  KEELSON_CHECK(ToJson(third->root()) == second);
  return 0;
}
