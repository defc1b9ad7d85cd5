#include "base/quote.h"

#include <fmt/format.h>

#include <iterator>

#include "base/utf8.h"

namespace keelson {

void AppendQuoted(std::string& out, std::string_view text) {
  constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kEscapes = "abfnrtv\\\"";
  auto end = std::back_inserter(out);
  out += '"';
  while (!text.empty()) {
    const auto character = FirstCharacter(text);
    if (auto i = kEscaped.find(text.front()); i != std::string_view::npos) {
      out += '\\';
      out += kEscapes[i];
    } else if (!character.valid || character.code < 0x20 || character.code == 0x7F) {
      fmt::format_to(end, "\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (IsPrintable(character.code)) {
      out += text.substr(0, character.size);
    } else if (character.code < 0x10000) {
      fmt::format_to(end, "\\u{:04x}", character.code);
    } else {
      fmt::format_to(end, "\\U{:08x}", character.code);
    }
    text.remove_prefix(character.size);
  }
  out += '"';
}

std::string Quote(std::string_view text) {
  std::string out;
  AppendQuoted(out, text);
  return out;
}

std::string WithoutMarkup(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace keelson
