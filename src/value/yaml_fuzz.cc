// A YAML text either has an error or becomes JSON that parses.

#include "value/json.h"
#include "value/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson::value;
  std::vector<std::string> duplicates;
  auto json = YamlToJson({reinterpret_cast<const char*>(data), size}, {.duplicates = &duplicates});
  if (json) KEELSON_CHECK(ParseJson(*json).has_value());
  return 0;
}
