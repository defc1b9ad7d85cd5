// Whatever a server sends as a watch is cut into lines and read without harm, and how it is cut
// into pieces makes no difference.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/watch_stream.h"

namespace {

using keelson::client::WatchFrames;

std::vector<std::string> Lines(std::string_view text, size_t cut) {
  WatchFrames frames(1 << 16);
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size(); at += cut) {
    if (!frames.Feed(text.substr(at, cut))) break;
    while (auto line = frames.Next()) lines.emplace_back(*line);
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1 || size > 4096) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto lines = Lines(text, size);
  KEELSON_CHECK(lines == Lines(text, size_t{data[0]} + 1));
  for (const auto& line : lines) (void)keelson::client::ParseWatchEvent(line);
  return 0;
}
