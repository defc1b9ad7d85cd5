#include "value/json_reader.h"

#include <emmintrin.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace keelson::value {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Which of 16 bytes end the fast walk over a string (quote, backslash, control, past ASCII), and
// which merely make it need escaping when written out (<, >, &).
struct Marks {
  uint32_t stop;
  uint32_t html;
};
inline Marks Look(const char* at) {
  __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  __m128i control = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));  // signed: also past ASCII
  __m128i angle = _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x02)), _mm_set1_epi8('>'));
  __m128i amp = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('&'));
  return {
      static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(quote, _mm_or_si128(slash, control)))),
      static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(angle, amp)))};
}

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Four hex digits, or -1.
int ReadHex(const char* at) {
  int code = 0;
  for (int i = 0; i < 4; ++i) {
    int digit = HexDigit(at[i]);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

size_t EncodeUtf8(uint32_t code, char* out) {
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<char>(0xC0 | code >> 6);
    out[1] = static_cast<char>(0x80 | (code & 0x3F));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<char>(0xE0 | code >> 12);
    out[1] = static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out[2] = static_cast<char>(0x80 | (code & 0x3F));
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | code >> 18);
  out[1] = static_cast<char>(0x80 | (code >> 12 & 0x3F));
  out[2] = static_cast<char>(0x80 | (code >> 6 & 0x3F));
  out[3] = static_cast<char>(0x80 | (code & 0x3F));
  return 4;
}

// Decodes the escape at `at` (after the backslash) to `out`. Returns how many bytes were read, 0
// when it is malformed.
size_t DecodeEscape(const char* at, char*& out) {
  char simple = 0;
  switch (*at) {
    case '"':
    case '\\':
    case '/':
      simple = *at;
      break;
    case 'b':
      simple = '\b';
      break;
    case 'f':
      simple = '\f';
      break;
    case 'n':
      simple = '\n';
      break;
    case 'r':
      simple = '\r';
      break;
    case 't':
      simple = '\t';
      break;
    case 'u': {
      int code = ReadHex(at + 1);
      if (code < 0) return 0;
      size_t read = 5;
      auto rune = static_cast<uint32_t>(code);
      if (rune >= 0xD800 && rune < 0xE000) {
        int low = at[5] == '\\' && at[6] == 'u' ? ReadHex(at + 7) : -1;
        if (rune < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
          rune = 0x10000 + ((rune - 0xD800) << 10) + (static_cast<uint32_t>(low) - 0xDC00);
          read = 11;
        } else {
          rune = 0xFFFD;
        }
      }
      out += EncodeUtf8(rune, out);
      return read;
    }
    default:
      return 0;
  }
  *out++ = simple;
  return 1;
}

}  // namespace

JsonReader::JsonReader(Arena& arena, std::string_view text) : arena_(arena) {
  at_ = static_cast<char*>(arena.Allocate(text.size() + kPadding));
  end_ = at_ + text.size();
  if (!text.empty()) std::memcpy(at_, text.data(), text.size());
  std::memset(end_, 0, kPadding);
}

void JsonReader::SkipSpace() {
  while (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r') ++at_;
}

bool JsonReader::FinishKey() {
  if (*at_ == ':') {
    ++at_;
    return true;
  }
  Take(':');
  return false;
}

JsonReader::Text JsonReader::Scan(bool key) {
  if (*at_ != '"') {
    Fail();
    return {};
  }
  char* start = ++at_;
  char* from = start;
  uint32_t html = 0;
  for (;; from += 16) {
    Marks marks = Look(from);
    if (marks.stop == 0) {
      html |= marks.html;
      continue;
    }
    int offset = std::countr_zero(marks.stop);
    html |= marks.html & ((1u << offset) - 1);
    from += offset;
    break;
  }
  if (*from != '"') return ScanSlow(start, from, key);
  at_ = from + 1;
  Text result{{start, static_cast<size_t>(from - start)}, html == 0, false};
  if (key) result.quoted = FinishKey() && result.plain;
  return result;
}

JsonReader::Text JsonReader::ScanSlow(char* start, char* from, bool key) {
  // Decodes in place while the result is no longer than its source. Only replacing invalid UTF-8
  // grows it; then the string moves to the arena, sized for the worst case.
  char* out = from;
  char* base = start;
  bool moved = false;
  while (true) {
    auto byte = static_cast<unsigned char>(*from);
    if (byte == '"') break;
    if (byte == '\\') {
      size_t read = DecodeEscape(from + 1, out);
      if (read == 0) {
        Fail();
        return {};
      }
      from += read + 1;
    } else if (byte < 0x20) {
      Fail();
      return {};
    } else if (byte < 0x80) {
      *out++ = *from++;
    } else if (size_t length = Utf8Length(from); length != 0) {
      std::memmove(out, from, length);
      out += length;
      from += length;
    } else {
      if (!moved && out + kReplacement.size() > from + 1) {
        auto done = static_cast<size_t>(out - base);
        char* fresh = static_cast<char*>(
            arena_.Allocate(done + 3 * static_cast<size_t>(end_ - from) + kReplacement.size()));
        std::memcpy(fresh, base, done);
        base = fresh;
        out = fresh + done;
        moved = true;
      }
      std::memcpy(out, kReplacement.data(), kReplacement.size());
      out += kReplacement.size();
      ++from;
    }
  }
  at_ = from + 1;
  Text result{{base, static_cast<size_t>(out - base)}, false, false};
  if (key) FinishKey();
  return result;
}

JsonReader::Number JsonReader::ReadNumber() {
  const char* start = at_;
  char* p = at_;
  bool negative = *p == '-';
  if (negative) ++p;
  const char* digits = p;
  uint64_t magnitude = 0;
  while (IsDigit(*p)) magnitude = magnitude * 10 + static_cast<uint64_t>(*p++ - '0');
  auto count = static_cast<size_t>(p - digits);
  if (count == 0 || (count > 1 && *digits == '0')) {
    Fail();
    return {};
  }
  bool whole = true;
  if (*p == '.') {
    whole = false;
    if (!IsDigit(*++p)) {
      Fail();
      return {};
    }
    while (IsDigit(*p)) ++p;
  }
  if (*p == 'e' || *p == 'E') {
    whole = false;
    ++p;
    if (*p == '+' || *p == '-') ++p;
    if (!IsDigit(*p)) {
      Fail();
      return {};
    }
    while (IsDigit(*p)) ++p;
  }
  at_ = p;
  Number number{{start, static_cast<size_t>(p - start)}, Value(), true};
  if (whole && count <= 18) {
    auto integer = static_cast<int64_t>(magnitude);
    number.value = Value::Int(negative ? -integer : integer);
    return number;
  }
  int64_t integer = 0;
  if (whole && std::from_chars(start, p, integer).ec == std::errc()) {
    number.value = Value::Int(integer);
    return number;
  }
  double real = 0;
  auto parsed = std::from_chars(start, p, real);
  if (parsed.ec == std::errc::result_out_of_range) {
    // Too small rounds to zero; too large is refused.
    real = std::strtod(std::string(number.text).c_str(), nullptr);
    number.finite = std::abs(real) < 1;
    if (!number.finite) real = 0;
  }
  number.value = Value::Double(real);
  return number;
}

Value JsonReader::ReadLiteral() {
  auto match = [&](std::string_view word) {
    if (std::memcmp(at_, word.data(), word.size()) != 0) {
      Fail();
      return false;
    }
    at_ += word.size();
    return true;
  };
  switch (*at_) {
    case 't':
      return match("true") ? Value::Bool(true) : Value();
    case 'f':
      return match("false") ? Value::Bool(false) : Value();
    case 'n':
      match("null");
      return Value();
    default:
      Fail();
      return Value();
  }
}

void JsonReader::Skip() {
  switch (Peek()) {
    case '"':
      ReadString();
      return;
    case '{':
      Advance();
      if (!Enter()) return;
      if (Peek() == '}') {
        Advance();
      } else {
        do {
          Peek();
          ReadKey();
          Skip();
        } while (TakeComma('}'));
      }
      Leave();
      return;
    case '[':
      Advance();
      if (!Enter()) return;
      if (Peek() == ']') {
        Advance();
      } else {
        do {
          Skip();
        } while (TakeComma(']'));
      }
      Leave();
      return;
    case 't':
    case 'f':
    case 'n':
      ReadLiteral();
      return;
    default:
      ReadNumber();
      return;
  }
}

const Name* JsonReader::MakeName(const Text& key) {
  auto* raw = arena_.Allocate(sizeof(Name));
  if (key.quoted) {
    return new (raw) Name(Name::Quoted({key.text.data() - 1, key.text.size() + 3}));
  }
  return new (raw) Name(Name::Plain(key.text));
}

}  // namespace keelson::value
