#pragma once

// JsonCursor: a walk over finished JSON that reads only what it is asked for.
//
// Finished means valid and without white space, as storage keeps objects. Nothing is checked or
// copied and no tree is built; what nobody asks for is stepped over 64 bytes at a time. Other text
// gives nonsense, but never a read outside of it and never an endless walk.
//
//   for (bool more = cursor.Enter('{'); more; more = cursor.Next('}')) {
//     if (cursor.TakeKey().raw == "spec") return ReadSpec(cursor);
//     cursor.Skip();
//   }

#include <cstddef>
#include <string_view>

#include "value/arena.h"

namespace keelson::value {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view json) : at_(json.data()), end_(at_ + json.size()) {}

  // The next byte; 0 at the end.
  char Peek() const { return at_ < end_ ? *at_ : '\0'; }
  bool at_end() const { return at_ >= end_; }
  const char* position() const { return at_; }

  // Steps into a container. False when another byte stands here, or when the container is empty,
  // which is then behind the cursor.
  bool Enter(char open) {
    if (Peek() != open) return false;
    ++at_;
    if (Peek() != open + 2) return !at_end();  // '{' and '}', '[' and ']' are two apart
    ++at_;
    return false;
  }
  // Behind a member or item: true when another follows. False at the end, which is taken.
  bool Next(char close) {
    const char c = Peek();
    if (c == ',') {
      ++at_;
      return true;
    }
    if (c == close) {
      ++at_;
    } else {
      at_ = end_;
    }
    return false;
  }

  // What stands between the quotes, as it stands.
  struct Text {
    std::string_view raw;
    bool escaped = false;
  };
  Text TakeString();
  // The same and the colon behind it.
  Text TakeKey() {
    Text key = TakeString();
    if (Peek() == ':') ++at_;
    return key;
  }
  // A number or a word.
  std::string_view TakeScalar();

  // Steps over one value.
  void Skip();
  // The same, and gives its text.
  std::string_view TakeRaw() {
    const char* start = at_;
    Skip();
    return {start, static_cast<size_t>(at_ - start)};
  }

 private:
  void SkipContainer();

  const char* at_;
  const char* end_;
};

// The text that `text` spells: itself without escapes, else decoded into the arena.
std::string_view Decoded(JsonCursor::Text text, Arena& arena);

}  // namespace keelson::value
