#include "base/quote.h"

#include <fmt/format.h>

#include <iterator>

namespace keelson {
namespace {

// Length of the UTF-8 sequence at the start of `text`, 0 when there is none.
size_t SequenceLength(std::string_view text) {
  auto first = static_cast<unsigned char>(text[0]);
  size_t length = first < 0x80                    ? 1
                  : first >= 0xC2 && first < 0xE0 ? 2
                  : first >= 0xE0 && first < 0xF0 ? 3
                  : first >= 0xF0 && first < 0xF5 ? 4
                                                  : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string Quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    size_t length = SequenceLength(text);
    auto byte = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
      length = 1;
    } else if (length > 1) {
      out += text.substr(0, length);
    } else if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[0];
    } else if (byte >= 7 && byte <= 13) {
      out += '\\';
      out += "abtnvfr"[byte - 7];
    } else if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out += text[0];
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

}  // namespace keelson
