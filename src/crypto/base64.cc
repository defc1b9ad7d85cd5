#include "crypto/base64.h"

#include <array>
#include <cstdint>

namespace keelson::crypto {
namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlSafe =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr uint8_t kNone = 0xff;

constexpr std::array<uint8_t, 256> Reverse(std::string_view alphabet) {
  std::array<uint8_t, 256> table{};
  table.fill(kNone);
  for (size_t i = 0; i < alphabet.size(); ++i) {
    table[static_cast<uint8_t>(alphabet[i])] = static_cast<uint8_t>(i);
  }
  return table;
}
constexpr auto kStandardReverse = Reverse(kStandard);
constexpr auto kUrlSafeReverse = Reverse(kUrlSafe);

std::string Encode(std::string_view bytes, std::string_view alphabet, bool pad) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  size_t i = 0;
  auto at = [&](size_t index) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[index])); };
  for (; i + 3 <= bytes.size(); i += 3) {
    uint32_t group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) out.push_back(alphabet[group >> shift & 63]);
  }
  size_t rest = bytes.size() - i;
  if (rest == 0) return out;
  uint32_t group = at(i) << 16 | (rest == 2 ? at(i + 1) << 8 : 0);
  out.push_back(alphabet[group >> 18]);
  out.push_back(alphabet[group >> 12 & 63]);
  if (rest == 2) out.push_back(alphabet[group >> 6 & 63]);
  if (pad) out.append(3 - rest, '=');
  return out;
}

// `text` is without padding here: groups of four, the last of two or three allowed.
Result<std::string> Decode(std::string_view text, const std::array<uint8_t, 256>& table) {
  if (text.size() % 4 == 1) return Fail(ErrorCode::kInvalid, "base64: impossible length");
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0;
  for (unsigned char c : text) {
    uint8_t value = table[c];
    if (value == kNone) return Fail(ErrorCode::kInvalid, "base64: illegal character");
    bits = bits << 6 | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> count & 0xff));
    }
  }
  if ((bits & ((1u << count) - 1)) != 0) {
    return Fail(ErrorCode::kInvalid, "base64: trailing bits are set");
  }
  return out;
}

}  // namespace

std::string Base64Encode(std::string_view bytes) { return Encode(bytes, kStandard, true); }

Result<std::string> Base64Decode(std::string_view text) {
  if (text.size() % 4 != 0) return Fail(ErrorCode::kInvalid, "base64: impossible length");
  size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  return Decode(text.substr(0, text.size() - padding), kStandardReverse);
}

std::string Base64UrlEncode(std::string_view bytes) { return Encode(bytes, kUrlSafe, false); }

Result<std::string> Base64UrlDecode(std::string_view text) { return Decode(text, kUrlSafeReverse); }

}  // namespace keelson::crypto
