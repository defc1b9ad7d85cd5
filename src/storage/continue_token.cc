#include "storage/continue_token.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/status.h"

namespace keelson::storage {
namespace {

constexpr std::string_view kVersion = "meta.k8s.io/v1";
constexpr std::string_view kNotValid = "continue key is not valid";
constexpr size_t kMaxToken = 16 << 10;
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

Result<std::string> DecodeBase64Url(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  size_t quantum_at = 0;  // where the current group of four began
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\r') continue;
    size_t digit = kAlphabet.find(text[i]);
    if (digit == std::string_view::npos) {
      return Fail(ErrorCode::kInvalid, "illegal base64 data at input byte {}", i);
    }
    if (count % 4 == 0) quantum_at = i;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (++count % 4 != 1) out += static_cast<char>(bits >> (6 - 2 * ((count - 1) % 4)) & 0xFF);
  }
  if (count % 4 == 1) {
    return Fail(ErrorCode::kInvalid, "illegal base64 data at input byte {}", quantum_at);
  }
  return out;
}

std::string EncodeBase64Url(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    auto part = bytes.substr(i, 3);
    uint32_t bits = 0;
    for (size_t b = 0; b < 3; ++b) {
      bits = bits << 8 | (b < part.size() ? static_cast<unsigned char>(part[b]) : 0u);
    }
    for (size_t d = 0; d <= part.size(); ++d) out += kAlphabet[bits >> (18 - 6 * d) & 63];
  }
  return out;
}

// Reads the one JSON object a token is: members with string or integer values. The messages are
// those of Go's decoder for the places where tokens go wrong in practice.
class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : rest_(text) {}

  struct Token {
    std::string version;
    int64_t revision = 0;
    std::string start;
  };

  Result<Token> Read() {
    TRY_VOID(Expect('{', "looking for beginning of value"));
    Token token;
    if (Peek() == '}') return token;
    for (;;) {
      TRY(auto key, ReadString("looking for beginning of object key string"));
      TRY_VOID(Expect(':', "after object key"));
      if (key == "rv") {
        TRY(token.revision, ReadInteger());
      } else if (key == "v" || key == "start") {
        TRY(auto value, ReadString("looking for beginning of value"));
        (key == "v" ? token.version : token.start) = std::move(value);
      } else if (Peek() == '"') {
        TRY([[maybe_unused]] auto ignored, ReadString(""));
      } else {
        TRY([[maybe_unused]] auto ignored, ReadInteger());
      }
      if (Peek() != ',') break;
      rest_.remove_prefix(1);
    }
    TRY_VOID(Expect('}', "after object key:value pair"));
    if (Peek()) return Unexpected("after top-level value");
    return token;
  }

 private:
  std::optional<char> Peek() {
    size_t at = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(at, rest_.size()));
    if (rest_.empty()) return std::nullopt;
    return rest_.front();
  }

  std::unexpected<Error> Unexpected(std::string_view where) {
    auto c = Peek();
    if (!c) return Fail(ErrorCode::kInvalid, "unexpected end of JSON input");
    if (*c == '\'') return Fail(ErrorCode::kInvalid, "invalid character '\\'' {}", where);
    if (*c < 0x20 || *c == 0x7f) {
      return Fail(ErrorCode::kInvalid, "invalid character '\\x{:02x}' {}",
                  static_cast<unsigned char>(*c), where);
    }
    return Fail(ErrorCode::kInvalid, "invalid character '{}' {}", *c, where);
  }

  Result<void> Expect(char c, std::string_view where) {
    if (Peek() != c) return Unexpected(where);
    rest_.remove_prefix(1);
    return {};
  }

  Result<int64_t> ReadInteger() {
    if (!Peek()) return Unexpected("");
    int64_t value = 0;
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return Unexpected("looking for beginning of value");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  Result<std::string> ReadString(std::string_view where) {
    TRY_VOID(Expect('"', where));
    std::string out;
    for (;;) {
      if (rest_.empty()) return Unexpected("");
      char c = rest_.front();
      if (static_cast<unsigned char>(c) < 0x20) return Unexpected("in string literal");
      rest_.remove_prefix(1);
      if (c == '"') return out;
      if (c != '\\') {
        out += c;
        continue;
      }
      TRY_VOID(ReadEscape(out));
    }
  }

  Result<void> ReadEscape(std::string& out) {
    if (rest_.empty()) return Unexpected("");
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    if (size_t i = kNames.find(rest_.front()); i != std::string_view::npos) {
      out += kValues[i];
      rest_.remove_prefix(1);
      return {};
    }
    uint32_t rune = 0;
    if (rest_.front() != 'u' || rest_.size() < 5) return Unexpected("in string escape code");
    auto digits = rest_.substr(1, 4);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + 4, rune, 16);
    if (error != std::errc() || end != digits.data() + 4) {
      return Unexpected("in \\u hexadecimal character escape");
    }
    rest_.remove_prefix(5);
    if (rune >= 0xD800 && rune < 0xE000) rune = 0xFFFD;  // keys hold nothing beyond the basic plane
    if (rune < 0x80) {
      out += static_cast<char>(rune);
    } else if (rune < 0x800) {
      out += {static_cast<char>(0xC0 | rune >> 6), static_cast<char>(0x80 | (rune & 0x3F))};
    } else {
      out += {static_cast<char>(0xE0 | rune >> 12), static_cast<char>(0x80 | (rune >> 6 & 0x3F)),
              static_cast<char>(0x80 | (rune & 0x3F))};
    }
    return {};
  }

  std::string_view rest_;
};

// Whether a path that starts with '/' has no empty, "." or ".." segment, so that it cannot leave
// the prefix it is put behind.
bool IsClean(std::string_view path) {
  if (path == "/") return true;
  while (!path.empty()) {
    path.remove_prefix(1);
    auto segment = path.substr(0, path.find('/'));
    if (segment.empty() || segment == "." || segment == "..") return false;
    path.remove_prefix(segment.size());
  }
  return true;
}

}  // namespace

Result<ContinuePoint> DecodeContinue(std::string_view token) {
  if (token.size() > kMaxToken) return Fail(ErrorCode::kInvalid, "{}: too long", kNotValid);
  auto json = DecodeBase64Url(token);
  if (!json) return Annotate(json.error(), kNotValid);
  auto read = TokenReader(*json).Read();
  if (!read) return Annotate(read.error(), kNotValid);
  if (read->version != kVersion) {
    return Fail(ErrorCode::kInvalid, "{}: server does not recognize this encoded version {}",
                kNotValid, read->version);
  }
  if (read->revision == 0) {
    return Fail(ErrorCode::kInvalid, "{}: incorrect encoded start resourceVersion (version {})",
                kNotValid, kVersion);
  }
  if (read->start.empty()) {
    return Fail(ErrorCode::kInvalid, "{}: encoded start key empty (version {})", kNotValid,
                kVersion);
  }
  std::string path = read->start.starts_with('/') ? read->start : "/" + read->start;
  if (!IsClean(path)) return Fail(ErrorCode::kInvalid, "{}: {}", kNotValid, read->start);
  return ContinuePoint{.revision = read->revision, .start = path.substr(1)};
}

std::string EncodeContinue(kv::Revision revision, std::string_view start) {
  std::string json = fmt::format(R"({{"v":"{}","rv":{},"start":)", kVersion, revision);
  AppendJsonString(json, start);
  json += '}';
  return EncodeBase64Url(json);
}

}  // namespace keelson::storage
