// Command lines of NUL-separated arguments never crash the parser, and a value it printed is a
// value it reads back.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/duration.h"
#include "base/flags.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string_view> arguments;
  while (!input.empty()) {
    auto end = input.find('\0');
    arguments.push_back(input.substr(0, end));
    input = end == std::string_view::npos ? "" : input.substr(end + 1);
  }
  bool flag = false;
  int64_t number = 0;
  uint64_t positive = 0;
  double real = 0;
  std::string text, address;
  Duration duration{};
  std::vector<std::string> slice;
  flags::StringMap map;
  flags::FlagSet set("fuzz");
  set.Bool("b", flag, "");
  set.Int("i", number, "");
  set.Uint("u", positive, "");
  set.Float("f", real, "");
  set.String("s", text, "");
  set.Ip("a", address, "");
  set.Duration("d", duration, "");
  set.StringSlice("l", slice, "");
  set.Map("m", map, "");
  if (auto parsed = set.Parse(arguments); !parsed && parsed.error().message.empty()) std::abort();
  auto again = ParseDuration(FormatDuration(duration));
  if (!again || *again != duration) std::abort();
  set.Help("");
  return 0;
}
