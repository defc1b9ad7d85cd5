#include <emmintrin.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "value/json.h"

namespace keelson::value {
namespace {

constexpr char kHex[] = "0123456789abcdef";

// Which of 16 bytes need care.
inline uint32_t CareMask(__m128i bytes) {
  __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  __m128i control = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));  // signed: also past ASCII
  __m128i angle = _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x02)), _mm_set1_epi8('>'));
  __m128i amp = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('&'));
  __m128i any =
      _mm_or_si128(_mm_or_si128(quote, slash), _mm_or_si128(control, _mm_or_si128(angle, amp)));
  return static_cast<uint32_t>(_mm_movemask_epi8(any));
}

inline __m128i Load16(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}
template <typename Int>
Int Load(const char* at) {
  Int bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

// 1 to 15 bytes in one register, each at least once and nothing else, so that a short text is
// judged at one look. Its halves overlap instead of being filled up.
inline __m128i LoadFew(const char* at, size_t size) {
  const char* end = at + size;
  if (size >= 8) return _mm_set_epi64x(Load<int64_t>(end - 8), Load<int64_t>(at));
  if (size >= 4) {
    return _mm_unpacklo_epi32(_mm_set1_epi32(Load<int32_t>(at)),
                              _mm_set1_epi32(Load<int32_t>(end - 4)));
  }
  return _mm_unpacklo_epi8(_mm_unpacklo_epi8(_mm_set1_epi8(at[0]), _mm_set1_epi8(at[size / 2])),
                           _mm_set1_epi8(end[-1]));
}

bool IsPlain(const char* at, size_t size) {
  if (size == 0) return true;
  if (size < 16) return CareMask(LoadFew(at, size)) == 0;
  const char* last = at + size - 16;
  for (; at < last; at += 16) {
    if (CareMask(Load16(at)) != 0) return false;
  }
  return CareMask(Load16(last)) == 0;
}

// Where the bytes that need no care end.
const char* PlainRun(const char* at, const char* end) {
  for (; end - at >= 16; at += 16) {
    uint32_t mask = CareMask(Load16(at));
    if (mask != 0) return at + std::countr_zero(mask);
  }
  while (at < end) {
    auto byte = static_cast<unsigned char>(*at);
    if (byte < 0x20 || byte >= 0x80 || *at == '"' || *at == '\\' || *at == '<' || *at == '>' ||
        *at == '&') {
      break;
    }
    ++at;
  }
  return at;
}

// Most texts are shorter than what a call to copy them costs.
inline void Copy(char* to, std::string_view text) {
  const char* from = text.data();
  const size_t size = text.size();
  auto both_ends = [&]<typename Word>(Word word) {
    Word last;
    std::memcpy(&word, from, sizeof word);
    std::memcpy(&last, from + size - sizeof last, sizeof last);
    std::memcpy(to, &word, sizeof word);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
  };
  if (size > 32) {
    std::memcpy(to, from, size);
  } else if (size >= 16) {
    both_ends(__m128i{});
  } else if (size >= 8) {
    both_ends(uint64_t{});
  } else if (size >= 4) {
    both_ends(uint32_t{});
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = from[i];
  }
}

// Writes into a string's own storage; the string is given its true size at the end.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out), size_(out.size()) { Grow(0); }
  ~Writer() { out_.resize(size_); }

  void Write(const Value& value) {
    switch (value.kind()) {
      case Kind::kNull:
        Raw("null");
        return;
      case Kind::kBool:
        Raw(value.AsBool() ? "true" : "false");
        return;
      case Kind::kInt:
        Int(value.AsInt());
        return;
      case Kind::kDouble:
        Double(value.AsDouble());
        return;
      case Kind::kString:
        String(value.AsString(), value.plain());
        return;
      case Kind::kList:
        List(value);
        return;
      case Kind::kObject:
        Object(value);
        return;
    }
  }

 private:
  void List(const Value& value) {
    Char('[');
    bool first = true;
    for (const Value& item : value.items()) {
      if (!first) Char(',');
      first = false;
      Write(item);
    }
    Char(']');
  }

  void Object(const Value& value) {
    if (value.size() == 0) return Raw("{}");
    char before = '{';
    for (const Member& member : value.members()) {
      if (member.name->has_quoted()) [[likely]] {
        const auto name = member.name->quoted();
        char* to = Room(name.size() + 1);
        *to = before;
        Copy(to + 1, name);
        size_ += name.size() + 1;
      } else {
        Char(before);
        String(member.key(), false);
        Char(':');
      }
      before = ',';
      Write(member.value);
    }
    Char('}');
  }

  char* Room(size_t count) {
    if (capacity_ - size_ < count) [[unlikely]]
      Grow(count);
    return data_ + size_;
  }
  void Grow(size_t count) {
    size_t wanted = std::max(size_ + count + 256, capacity_ * 2);
    out_.resize(size_);
    out_.resize_and_overwrite(wanted, [](char*, size_t n) { return n; });
    data_ = out_.data();
    capacity_ = out_.size();
  }
  void Char(char c) {
    *Room(1) = c;
    ++size_;
  }
  void Raw(std::string_view text) {
    Copy(Room(text.size()), text);
    size_ += text.size();
  }
  void Int(int64_t number) {
    char* to = Room(24);
    size_ += static_cast<size_t>(std::to_chars(to, to + 24, number).ptr - to);
  }
  void Double(double number) {
    std::string text;
    AppendJsonDouble(text, number);
    Raw(text);
  }
  void String(std::string_view text, bool plain) {
    if (plain || IsPlain(text.data(), text.size())) [[likely]] {
      char* to = Room(text.size() + 2);
      *to = '"';
      Copy(to + 1, text);
      to[text.size() + 1] = '"';
      size_ += text.size() + 2;
      return;
    }
    Char('"');
    const char* at = text.data();
    const char* end = at + text.size();
    while (at < end) {
      const char* run = PlainRun(at, end);
      if (run != at) {
        Raw({at, static_cast<size_t>(run - at)});
        at = run;
      }
      if (at < end) at = Escape(at, end);
    }
    Char('"');
  }

  // Writes the character at `at` and returns where the next one is.
  const char* Escape(const char* at, const char* end) {
    auto byte = static_cast<unsigned char>(*at);
    if (byte >= 0x80) return WriteRune(at, end);
    switch (*at) {
      case '"':
        Raw("\\\"");
        break;
      case '\\':
        Raw("\\\\");
        break;
      case '\b':
        Raw("\\b");
        break;
      case '\f':
        Raw("\\f");
        break;
      case '\n':
        Raw("\\n");
        break;
      case '\r':
        Raw("\\r");
        break;
      case '\t':
        Raw("\\t");
        break;
      default: {
        char* to = Room(6);
        std::memcpy(to, "\\u00", 4);
        to[4] = kHex[byte >> 4];
        to[5] = kHex[byte & 15];
        size_ += 6;
      }
    }
    return at + 1;
  }

  const char* WriteRune(const char* at, const char* end) {
    // A copy with room behind it, because the text may end inside a sequence.
    char padded[5] = {};
    std::memcpy(padded, at, static_cast<size_t>(std::min<ptrdiff_t>(4, end - at)));
    size_t length = Utf8Length(padded);
    if (length == 0) {
      Raw("\\ufffd");
      return at + 1;
    }
    if (length == 3 && std::memcmp(padded, "\xE2\x80\xA8", 3) == 0) {
      Raw("\\u2028");
    } else if (length == 3 && std::memcmp(padded, "\xE2\x80\xA9", 3) == 0) {
      Raw("\\u2029");
    } else {
      Raw({at, length});
    }
    return at + length;
  }

  std::string& out_;
  char* data_ = nullptr;
  size_t size_;
  size_t capacity_ = 0;
};

}  // namespace

bool IsPlainJson(std::string_view text) { return IsPlain(text.data(), text.size()); }

void AppendJson(std::string& out, const Value& value) { Writer(out).Write(value); }

std::string ToJson(const Value& value) {
  std::string out;
  AppendJson(out, value);
  return out;
}

Slice ToJsonSlice(const Value& value) { return Slice::Own(ToJson(value)); }

void AppendJsonDouble(std::string& out, double number) {
  if (number == 0) {
    out += std::signbit(number) ? "-0" : "0";
    return;
  }
  // The shortest digits that read back the same, d.ddde+xx; then laid out as Go does.
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(number),
                           std::chars_format::scientific)
                 .ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  size_t e = text.find('e');
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);
  int exponent = std::stoi(std::string(text.substr(e + 1)));
  if (number < 0) out += '-';
  if (exponent < -6 || exponent >= 21) {
    out += digits[0];
    if (digits.size() > 1) out.append(".").append(digits, 1);
    out += exponent < 0 ? "e-" : "e+";
    out += std::to_string(std::abs(exponent));
    return;
  }
  auto point = exponent + 1;
  if (point <= 0) {
    out.append("0.").append(static_cast<size_t>(-point), '0').append(digits);
  } else if (static_cast<size_t>(point) >= digits.size()) {
    out.append(digits).append(static_cast<size_t>(point) - digits.size(), '0');
  } else {
    out.append(digits, 0, static_cast<size_t>(point)).append(".");
    out.append(digits, static_cast<size_t>(point));
  }
}

}  // namespace keelson::value
