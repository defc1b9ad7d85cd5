#pragma once

// What a decode pass remembers of where it is and what went wrong. Internal to the JSON decoder.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/type.h"

namespace keelson::schema {

// A step from the root to the value being read; a linked list on the stack.
struct Frame {
  enum Step : uint8_t { kField, kKey, kIndex };

  const Frame* parent = nullptr;
  const Type* owner = nullptr;  // the struct, when this is one of its fields
  const Field* field = nullptr;
  std::string_view key;
  size_t index = 0;
  Step step = kField;
};

// spec.containers[0].image, as strict errors spell it.
std::string StrictPath(const Frame& frame, std::string_view last);

// "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool". The
// path holds the fields only, and the names of embedded structs between them.
std::string TypeErrorText(const Frame& frame, std::string_view found, std::string_view go_type);

// Fields of a struct met so far.
class SeenFields {
 public:
  // Returns whether the field was there before.
  bool Add(uint32_t index) {
    uint64_t& word = index < 64 ? low_ : index < 128 ? high_ : Rest(index);
    uint64_t bit = uint64_t{1} << (index % 64);
    bool before = (word & bit) != 0;
    word |= bit;
    return before;
  }

 private:
  uint64_t& Rest(uint32_t index) {
    if (rest_.size() <= index / 64) rest_.resize(index / 64 + 1);
    return rest_[index / 64];
  }

  uint64_t low_ = 0;
  uint64_t high_ = 0;
  std::vector<uint64_t> rest_;
};

class DecodeContext {
 public:
  static constexpr size_t kMaxStrictErrors = 100;

  // Strict errors go to `strict`, or nowhere.
  explicit DecodeContext(std::vector<std::string>* strict) : strict_(strict) {}

  // The first one is kept; decoding goes on.
  void SaveError(std::string_view message) {
    if (error_.empty()) error_ = message;
  }
  void SaveTypeError(const Frame& frame, std::string_view found, std::string_view go_type) {
    if (error_.empty()) error_ = TypeErrorText(frame, found, go_type);
  }
  // Ends the pass and beats whatever was kept.
  void Abort(std::string message) {
    if (!aborted_) error_ = std::move(message);
    aborted_ = true;
  }
  const std::string& error() const { return error_; }

  void Unknown(const Frame& frame, std::string_view name) {
    if (strict_) Report("unknown field ", StrictPath(frame, name));
  }
  void Duplicate(const Frame& frame, std::string_view name) {
    if (strict_) Report("duplicate field ", StrictPath(frame, name));
  }

  // No strict errors while it lives.
  class Lenient {
   public:
    explicit Lenient(DecodeContext& context) : context_(context), strict_(context.strict_) {
      context_.strict_ = nullptr;
    }
    ~Lenient() { context_.strict_ = strict_; }
    Lenient(const Lenient&) = delete;
    Lenient& operator=(const Lenient&) = delete;

   private:
    DecodeContext& context_;
    std::vector<std::string>* strict_;
  };

 private:
  void Report(std::string_view what, const std::string& path);

  std::vector<std::string>* strict_;
  std::string error_;
  bool aborted_ = false;
};

}  // namespace keelson::schema
