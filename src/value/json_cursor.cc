#include "value/json_cursor.h"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "value/json_reader.h"

namespace keelson::value {
namespace {

constexpr size_t kBlock = 64;

// One bit per byte of a block.
struct Marks {
  uint64_t quote = 0;
  uint64_t slash = 0;
  uint64_t open = 0;   // { and [, also inside strings
  uint64_t close = 0;  // } and ]
};

Marks Look(const char* block) {
  Marks marks;
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * i));
    // Setting one bit makes [ into { and ] into }.
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    auto mark = [&](__m128i from, char c) {
      const __m128i equal = _mm_cmpeq_epi8(from, _mm_set1_epi8(c));
      return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(equal))) << (16 * i);
    };
    marks.quote |= mark(bytes, '"');
    marks.slash |= mark(bytes, '\\');
    marks.open |= mark(folded, '{');
    marks.close |= mark(folded, '}');
  }
  return marks;
}

// Bytes that a backslash in front takes the meaning from. A run of backslashes escapes what follows
// it when its length is odd; adding the runs that start at an odd place to all of them carries to
// their ends. `carry` is 1 when the last byte of the block escapes the first of the next.
uint64_t Escaped(uint64_t slash, uint64_t& carry) {
  constexpr uint64_t kEven = 0x5555555555555555;
  slash &= ~carry;
  const uint64_t follows = slash << 1 | carry;
  const uint64_t odd_starts = slash & ~kEven & ~follows;
  uint64_t ends = 0;
  carry = __builtin_add_overflow(odd_starts, slash, &ends) ? 1 : 0;
  return (kEven ^ ends << 1) & follows;
}

// Every bit is the parity of the bits of `quotes` up to and with it: inside a string or not.
uint64_t InsideStrings(uint64_t quotes) {
  for (int shift = 1; shift < 64; shift *= 2) quotes ^= quotes << shift;
  return quotes;
}

}  // namespace

// Counts brackets outside of strings, a block at a time, and looks closer only at the block where
// the last one closes.
void JsonCursor::SkipContainer() {
  int64_t depth = 0;
  uint64_t carry = 0;
  uint64_t in_string = 0;  // all ones when the block before ended inside one
  char rest[kBlock];
  while (at_ < end_) {
    const char* block = at_;
    const auto left = static_cast<size_t>(end_ - at_);
    if (left < kBlock) {
      std::memset(rest, 0, kBlock);
      std::memcpy(rest, at_, left);
      block = rest;
    }
    Marks marks = Look(block);
    if ((marks.slash | carry) != 0) marks.quote &= ~Escaped(marks.slash, carry);
    const uint64_t inside = InsideStrings(marks.quote) ^ in_string;
    in_string = static_cast<uint64_t>(static_cast<int64_t>(inside) >> 63);
    marks.open &= ~inside;
    marks.close &= ~inside;
    if (depth > std::popcount(marks.close)) {
      depth += std::popcount(marks.open) - std::popcount(marks.close);
      at_ += std::min(left, kBlock);
      continue;
    }
    for (uint64_t both = marks.open | marks.close; both != 0; both &= both - 1) {
      const int bit = std::countr_zero(both);
      depth += (marks.open >> bit & 1) != 0 ? 1 : -1;
      if (depth == 0) {
        at_ += bit + 1;
        return;
      }
    }
    at_ += std::min(left, kBlock);
  }
}

void JsonCursor::Skip() {
  switch (Peek()) {
    case '{':
    case '[':
      return SkipContainer();
    case '"':
      TakeString();
      return;
    default:
      TakeScalar();
  }
}

JsonCursor::Text JsonCursor::TakeString() {
  if (Peek() != '"') {
    at_ = end_;
    return {};
  }
  const char* start = ++at_;
  bool escaped = false;
  for (;;) {
    while (end_ - at_ >= 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at_));
      const __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                        _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
      const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(stop));
      if (mask != 0) {
        at_ += std::countr_zero(mask);
        break;
      }
      at_ += 16;
    }
    while (at_ < end_ && *at_ != '"' && *at_ != '\\') ++at_;
    if (at_ >= end_) return {};
    if (*at_ == '"') {
      Text text{{start, static_cast<size_t>(at_ - start)}, escaped};
      ++at_;
      return text;
    }
    escaped = true;
    at_ += std::min<ptrdiff_t>(2, end_ - at_);
  }
}

std::string_view JsonCursor::TakeScalar() {
  const char* start = at_;
  while (at_ < end_ && *at_ != ',' && *at_ != '}' && *at_ != ']') ++at_;
  if (at_ == start) at_ = end_;  // nothing stands here: the text is not JSON
  return {start, static_cast<size_t>(at_ - start)};
}

std::string_view Decoded(JsonCursor::Text text, Arena& arena) {
  if (!text.escaped) return text.raw;
  JsonReader reader(arena, {text.raw.data() - 1, text.raw.size() + 2});
  return reader.ReadString().text;
}

}  // namespace keelson::value
