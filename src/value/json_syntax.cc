// Names the first syntax error of a JSON text as upstream does. Runs only after a reader failed, so
// it is written for exactness: a state machine over bytes, one state per place where upstream's
// scanner has words of its own.

#include <fmt/format.h>

#include <vector>

#include "value/json_reader.h"

namespace keelson::value {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// A byte in single quotes, escaped as a Go character.
std::string QuoteByte(char c) {
  auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '\'':
      return "'\\''";
    case '"':
      return "'\"'";
    case '\\':
      return "'\\\\'";
    case '\a':
      return "'\\a'";
    case '\b':
      return "'\\b'";
    case '\f':
      return "'\\f'";
    case '\n':
      return "'\\n'";
    case '\r':
      return "'\\r'";
    case '\t':
      return "'\\t'";
    case '\v':
      return "'\\v'";
    default:
      break;
  }
  if (byte < 0x20 || byte == 0x7F) return fmt::format("'\\x{:02x}'", byte);
  if (byte < 0x80) return fmt::format("'{}'", c);
  // The byte is taken for a code point of Latin-1; those without a glyph are escaped.
  if (byte < 0xA1 || byte == 0xAD) return fmt::format("'\\u{:04x}'", byte);
  return fmt::format("'{}{}'", static_cast<char>(0xC0 | byte >> 6),
                     static_cast<char>(0x80 | (byte & 0x3F)));
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::string Run() {
    if (ScanValue()) {
      SkipSpace();
      if (at_ < text_.size()) Unexpected("after top-level value");
    }
    return error_;
  }

 private:
  enum class Open : uint8_t { kObject, kArray };

  bool Unexpected(std::string_view context) {
    error_ = at_ < text_.size()
                 ? fmt::format("invalid character {} {}", QuoteByte(text_[at_]), context)
                 : "unexpected end of JSON input";
    return false;
  }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  char Current() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Done() const { return at_ >= text_.size(); }

  // One value with all it contains, on an explicit stack.
  bool ScanValue() {
    std::vector<Open> open;
    while (true) {
      SkipSpace();
      if (Done()) return Unexpected("");
      bool closed = false;
      if (Current() == '{' || Current() == '[') {
        bool object = Current() == '{';
        open.push_back(object ? Open::kObject : Open::kArray);
        if (open.size() > static_cast<size_t>(JsonReader::kMaxDepth)) {
          return Unexpected("exceeded max depth");
        }
        ++at_;
        SkipSpace();
        if (Current() == (object ? '}' : ']') && !Done()) {
          closed = true;
        } else if (object) {
          if (!Key()) return false;
          continue;
        } else {
          continue;
        }
      } else if (!Scalar()) {
        return false;
      }
      // After a value, or at the bracket that ends an empty container.
      while (true) {
        if (closed) {
          ++at_;
          open.pop_back();
          closed = false;
        }
        if (open.empty()) return true;
        SkipSpace();
        bool object = open.back() == Open::kObject;
        if (Done()) return Unexpected("");
        if (Current() == ',') {
          ++at_;
          SkipSpace();
          if (object && !Key()) return false;
          break;
        }
        if (Current() != (object ? '}' : ']')) {
          return Unexpected(object ? "after object key:value pair" : "after array element");
        }
        closed = true;
      }
    }
  }

  bool Key() {
    if (Done() || Current() != '"') return Unexpected("looking for beginning of object key string");
    if (!String()) return false;
    SkipSpace();
    if (Done() || Current() != ':') return Unexpected("after object key");
    ++at_;
    return true;
  }

  bool Scalar() {
    char c = Current();
    if (c == '"') return String();
    if (c == 't') return Literal("true");
    if (c == 'f') return Literal("false");
    if (c == 'n') return Literal("null");
    if (c == '-' || IsDigit(c)) return Number();
    return Unexpected("looking for beginning of value");
  }

  bool Literal(std::string_view word) {
    for (size_t i = 1; i < word.size(); ++i) {
      ++at_;
      if (Done() || Current() != word[i]) {
        return Unexpected(fmt::format("in literal {} (expecting '{}')", word, word[i]));
      }
    }
    ++at_;
    return true;
  }

  bool String() {
    for (++at_; !Done(); ++at_) {
      char c = Current();
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return Unexpected("in string literal");
      if (c != '\\') continue;
      ++at_;
      if (Done()) break;
      if (Current() == 'u') {
        for (int i = 0; i < 4; ++i) {
          ++at_;
          if (Done() || !IsHex(Current())) {
            return Unexpected("in \\u hexadecimal character escape");
          }
        }
      } else if (std::string_view("bfnrt\\/\"").find(Current()) == std::string_view::npos) {
        return Unexpected("in string escape code");
      }
    }
    return Unexpected("");
  }

  void Digits() {
    while (IsDigit(Current())) ++at_;
  }
  bool Number() {
    if (Current() == '-') {
      ++at_;
      if (!IsDigit(Current())) return Unexpected("in numeric literal");
    }
    if (Current() == '0') {
      ++at_;
    } else {
      Digits();
    }
    if (Current() == '.') {
      ++at_;
      if (!IsDigit(Current())) return Unexpected("after decimal point in numeric literal");
      Digits();
    }
    if (Current() == 'e' || Current() == 'E') {
      ++at_;
      if (Current() == '+' || Current() == '-') ++at_;
      if (!IsDigit(Current())) return Unexpected("in exponent of numeric literal");
      Digits();
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string error_;
};

}  // namespace

std::string JsonSyntaxError(std::string_view text) { return Scanner(text).Run(); }

}  // namespace keelson::value
