#pragma once

// Name: an interned member name.
//
// Names known to a schema live in constant tables, all others in the arena of the tree that uses
// them. Two Names with equal text are the same name wherever they live; equal addresses merely
// prove it faster. A Name remembers when its text lies inside its finished JSON form ("text":), so
// that an encoder copies name, quotes and colon in one go.

#include <cstdint>
#include <cstring>
#include <string_view>

namespace keelson::value {

// Hashes length, beginning and end; cheap enough to run on every key that is parsed, and nothing at
// all for a literal.
constexpr uint32_t HashName(std::string_view text) {
  const size_t n = text.size();
  // The word at `at`, its first byte lowest.
  auto load = [&]<typename Word>(Word word, size_t at) -> uint64_t {
    if consteval {
      for (size_t i = 0; i < sizeof(Word); ++i) {
        word |= static_cast<Word>(Word{static_cast<uint8_t>(text[at + i])} << (8 * i));
      }
    } else {
      std::memcpy(&word, text.data() + at, sizeof(Word));
    }
    return word;
  };
  uint64_t head = 0;
  uint64_t tail = 0;
  if (n >= 8) {
    head = load(uint64_t{0}, 0);
    tail = load(uint64_t{0}, n - 8);
  } else if (n >= 4) {
    head = load(uint32_t{0}, 0) | load(uint32_t{0}, n - 4) << 32;
    tail = head;
  } else if (n > 0) {
    head = load(uint8_t{0}, 0) | load(uint8_t{0}, n / 2) << 8 | load(uint8_t{0}, n - 1) << 16;
    tail = head;
  }
  uint64_t h = (head ^ (n * 0x9E3779B97F4A7C15u)) * 0xff51afd7ed558ccdu;
  h = (h ^ (h >> 32) ^ tail) * 0xc4ceb9fe1a85ec53u;
  return static_cast<uint32_t>(h >> 32);
}

class Name {
 public:
  // `quoted` is the finished form, "text": with quotes and colon, and needs no escaping. For
  // constant tables: constexpr Name kSpec = Name::Quoted("\"spec\":");
  static constexpr Name Quoted(std::string_view quoted) {
    return Name(quoted.data() + 1, static_cast<uint32_t>(quoted.size() - 3), true);
  }
  // Plain text, in storage that outlives the name.
  static constexpr Name Plain(std::string_view text) {
    return Name(text.data(), static_cast<uint32_t>(text.size()), false);
  }

  constexpr std::string_view text() const { return {data_, size_}; }
  constexpr uint32_t hash() const { return hash_; }
  // Low bits of the hash, kept beside each member so that a lookup rarely touches a Name.
  constexpr uint16_t tag() const { return static_cast<uint16_t>(hash_); }
  // True when quoted() is usable.
  constexpr bool has_quoted() const { return quoted_; }
  constexpr std::string_view quoted() const { return {data_ - 1, size_ + 3u}; }

  constexpr bool operator==(const Name& other) const {
    return this == &other || (hash_ == other.hash_ && text() == other.text());
  }
  constexpr bool operator==(std::string_view other) const { return text() == other; }

 private:
  constexpr Name(const char* data, uint32_t size, bool quoted)
      : data_(data), size_(size), quoted_(quoted), hash_(HashName({data, size})) {}

  const char* data_;
  uint32_t size_ : 31;
  uint32_t quoted_ : 1;
  uint32_t hash_;
};
static_assert(sizeof(Name) == 16);

}  // namespace keelson::value
