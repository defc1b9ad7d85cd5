// Whatever parses must print to a text that parses to the same selector.

#include <cstdint>

#include "selector/label_selector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using keelson::selector::LabelSelector;
  auto selector = LabelSelector::Parse({reinterpret_cast<const char*>(data), size});
  if (!selector) return 0;
  auto again = LabelSelector::Parse(selector->ToString());
  KEELSON_CHECK(again.has_value() && *again == *selector);
  return 0;
}
