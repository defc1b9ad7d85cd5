#pragma once

// UTF-8, one character at a time, with Go's idea of what is valid and what is printable.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keelson {

struct Utf8Character {
  uint32_t code = 0xFFFD;
  size_t size = 1;  // bytes taken; 1 for a byte that begins no valid sequence
  bool valid = false;
};

// The first character of `text`, which must not be empty. Overlong forms, surrogates and codes
// above U+10FFFF are not valid.
constexpr Utf8Character FirstCharacter(std::string_view text) {
  const auto at = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const uint32_t lead = at(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || size > text.size()) return {};
  uint32_t code = lead & (0xFFu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (at(i) & 0x3F);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {code, size, true};
}

// What Go's unicode.IsPrint accepts, as far as text that people type goes: no controls, no spaces
// but the plain one, no separators, no formatting marks, no private use.
constexpr bool IsPrintable(uint32_t code) {
  constexpr struct {
    uint32_t first, last;
  } kHidden[] = {{0, 0x1F},          {0x7F, 0xA0},     {0xAD, 0xAD},     {0x1680, 0x1680},
                 {0x2000, 0x200F},   {0x2028, 0x202F}, {0x205F, 0x206F}, {0x3000, 0x3000},
                 {0xD800, 0xF8FF},   {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB}, {0xE0000, 0xE0FFF},
                 {0xF0000, 0x10FFFF}};
  for (const auto& range : kHidden) {
    if (code >= range.first && code <= range.last) return false;
  }
  return true;
}

}  // namespace keelson
