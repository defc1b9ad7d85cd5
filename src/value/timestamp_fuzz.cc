// Times and durations that parse are written in a form that parses to the same.

#include "value/timestamp.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson::value;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto time = ParseTime(text); time && FormatTime(*time).size() == 20) {
    auto again = ParseTime(FormatTime(*time));
    KEELSON_CHECK(again.has_value() && again->seconds == time->seconds);
    if (IsCanonicalTime(text)) KEELSON_CHECK(FormatTime(*time) == text);
  } else if (!time) {
    KEELSON_CHECK(!IsCanonicalTime(text));
  }
  if (auto time = ParseMicroTime(text); time && FormatMicroTime(*time).size() == 27) {
    KEELSON_CHECK(ParseMicroTime(FormatMicroTime(*time)).value() == *time);
  }
  if (auto nanos = ParseDuration(text)) {
    KEELSON_CHECK(ParseDuration(FormatDuration(*nanos)).value() == *nanos);
  }
  return 0;
}
