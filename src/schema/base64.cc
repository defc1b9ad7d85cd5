// Base64 with padding, as Go's standard encoding reads it: line breaks are skipped, and an error
// names the offset of the first byte that cannot be.

#include <array>

#include "schema/decode_json.h"

namespace keelson::schema {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> kValues = [] {
  std::array<int8_t, 256> values;
  values.fill(-1);
  for (int8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kAlphabet[i])] = i;
  return values;
}();

std::unexpected<Error> Illegal(size_t offset) {
  return Fail(ErrorCode::kInvalid, "illegal base64 data at input byte {}", offset);
}

}  // namespace

Result<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  auto skip_breaks = [&](size_t at) {
    while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) ++at;
    return at;
  };
  size_t at = 0;
  while (true) {
    uint32_t group = 0;
    int count = 0;
    while (count < 4) {
      at = skip_breaks(at);
      if (at == text.size()) {
        if (count == 0) return bytes;
        return Illegal(at - static_cast<size_t>(count));
      }
      char c = text[at++];
      int8_t value = kValues[static_cast<unsigned char>(c)];
      if (value >= 0) {
        group = group << 6 | static_cast<uint32_t>(value);
        ++count;
        continue;
      }
      if (c != '=' || count < 2) return Illegal(at - 1);
      if (count == 2) {
        at = skip_breaks(at);
        if (at == text.size()) return Illegal(text.size());
        if (text[at] != '=') return Illegal(at);
        ++at;
      }
      at = skip_breaks(at);
      if (at < text.size()) return Illegal(at);
      group <<= 6 * (4 - count);
      bytes += static_cast<char>(group >> 16);
      if (count == 3) bytes += static_cast<char>(group >> 8);
      return bytes;
    }
    bytes += static_cast<char>(group >> 16);
    bytes += static_cast<char>(group >> 8);
    bytes += static_cast<char>(group);
  }
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    auto byte = [&](size_t at) {
      return at < bytes.size() ? static_cast<uint32_t>(static_cast<unsigned char>(bytes[at])) : 0;
    };
    uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    text += kAlphabet[group >> 18];
    text += kAlphabet[group >> 12 & 63];
    text += i + 1 < bytes.size() ? kAlphabet[group >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? kAlphabet[group & 63] : '=';
  }
  return text;
}

}  // namespace keelson::schema
