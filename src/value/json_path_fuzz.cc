#include <cstddef>
#include <cstdint>
#include <string_view>

#include "value/json.h"
#include "value/json_path.h"

// A path, a line feed, and the object it is followed through.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson::value;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto line = input.find('\n');
  auto path = JsonPath::Parse(input.substr(0, line));
  if (!path || line == std::string_view::npos) return 0;
  if (auto object = ParseJson(input.substr(line + 1))) (void)path->Find(object->root());
  (void)path->Prefix();
  return 0;
}
