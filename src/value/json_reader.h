#pragma once

// JsonReader: the cursor below every JSON decoder.
//
// It walks bytes that lie in an arena, followed by kPadding zero bytes, and may rewrite them: a
// string with escapes is decoded where it stands, so strings and names of the tree point into the
// text itself. A failed read moves the cursor to a state where every further read fails too; the
// caller then asks JsonSyntaxError for upstream's message. Invalid UTF-8 becomes U+FFFD, as
// upstream's decoder has it.

#include <cstdint>
#include <string>
#include <string_view>

#include "value/arena.h"
#include "value/value.h"

namespace keelson::value {

class JsonReader {
 public:
  static constexpr size_t kPadding = 32;
  // As deep as upstream's scanner goes.
  static constexpr int kMaxDepth = 10000;

  // Copies `text` into the arena. At most 4 GiB.
  JsonReader(Arena& arena, std::string_view text);

  bool failed() const { return failed_; }
  void Fail() {
    failed_ = true;
    at_ = end_;
  }

  // The next byte that is not white space; 0 at the end.
  char Peek() {
    if (static_cast<unsigned char>(*at_) <= ' ') SkipSpace();
    return *at_;
  }
  void Advance() { ++at_; }
  // Takes the byte `c`, after white space; fails when another stands there.
  bool Take(char c) {
    if (Peek() != c) {
      Fail();
      return false;
    }
    ++at_;
    return true;
  }
  // After a member or an item: true when a comma follows, false when `close` ends the container
  // (taken) or the reader failed.
  bool TakeComma(char close) {
    char c = Peek();
    if (c == ',') {
      ++at_;
      return true;
    }
    if (c != close) {
      Fail();
      return false;
    }
    ++at_;
    return false;
  }

  // A string, from its opening quote.
  struct Text {
    std::string_view text;
    bool plain = false;   // needs no escaping when written as JSON
    bool quoted = false;  // stands in the buffer as "text": with quotes and colon
  };
  // Reads a string; `key` also takes the colon after it.
  Text ReadString() { return Scan(false); }
  Text ReadKey() { return Scan(true); }

  // A number, from its first byte. `text` is its spelling.
  struct Number {
    std::string_view text;
    Value value;         // kInt or kDouble
    bool finite = true;  // false when it is too large for a double
  };
  Number ReadNumber();

  // true, false or null.
  Value ReadLiteral();

  // Steps over any value; what lies between is checked for syntax only.
  void Skip();

  // A Name for a key just read, in the arena.
  const Name* MakeName(const Text& key);

  Arena& arena() { return arena_; }
  const char* position() const { return at_; }
  const char* end() const { return end_; }
  // Containers entered; fails at kMaxDepth.
  bool Enter() {
    if (++depth_ > kMaxDepth) {
      Fail();
      return false;
    }
    return true;
  }
  void Leave() { --depth_; }

 private:
  void SkipSpace();
  Text Scan(bool key);
  // The rest of a string that has escapes or bytes past ASCII, decoded.
  Text ScanSlow(char* start, char* from, bool key);
  bool FinishKey();

  Arena& arena_;
  char* at_;
  char* end_;
  int depth_ = 0;
  bool failed_ = false;
};

// Why `text` is not JSON, in upstream's words; empty when it is.
std::string JsonSyntaxError(std::string_view text);

// The length of the valid UTF-8 sequence that starts at `text`, or 0. Bytes behind must be
// readable.
inline size_t Utf8Length(const char* text) {
  auto byte = [&](int i) { return static_cast<unsigned char>(text[i]); };
  auto follows = [&](int i) { return (byte(i) & 0xC0) == 0x80; };
  unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return follows(1) ? 2 : 0;
  if (lead < 0xF0) {
    if (!follows(1) || !follows(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (lead == 0xED && byte(1) > 0x9F) return 0;  // surrogate
    return 3;
  }
  if (lead > 0xF4 || !follows(1) || !follows(2) || !follows(3)) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return 4;
}

}  // namespace keelson::value
