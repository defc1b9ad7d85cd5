// The maps format: any text is read without harm. Paths are cut off, so that no file is opened.

#include <algorithm>
#include <cstdint>
#include <string>

#include "profile/symbols.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  std::ranges::replace(text, '/', '.');
  auto space = keelson::profile::AddressSpace::Parse(text);
  for (const auto& mapping : space.mappings()) (void)space.FunctionAt(mapping.start);
  (void)keelson::profile::StripParameters(text);
  return 0;
}
