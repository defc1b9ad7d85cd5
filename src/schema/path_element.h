#pragma once

// PathElement: one step of a field path, as managed fields name it.
//
// A step is a field or map key (f:name), an item of a keyed list (k:{"name":"a"}), an item of a set
// (v:"a") or, kept only for what older servers wrote, an index (i:0). 16 bytes, copied freely;
// names, keys and values are borrowed from an arena, a document or constants.

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::schema {

// A key field of a list item and its value. The key fields of an element are sorted by name.
struct KeyField {
  std::string_view name;
  value::Value value;
};

class PathElement {
 public:
  // In the order that elements of different kinds sort.
  enum class Kind : uint8_t { kField, kKey, kValue, kIndex };

  constexpr PathElement() : text_(nullptr), size_(0), kind_(Kind::kField) {}
  static constexpr PathElement Field(std::string_view name) {
    PathElement element;
    element.text_ = name.data();
    element.size_ = static_cast<uint32_t>(name.size());
    return element;
  }
  static constexpr PathElement Field(const value::Name& name) {
    PathElement element = Field(name.text());
    element.plain_ = name.has_quoted();
    return element;
  }
  static constexpr PathElement Key(std::span<const KeyField> sorted_fields) {
    PathElement element;
    element.fields_ = sorted_fields.data();
    element.size_ = static_cast<uint32_t>(sorted_fields.size());
    element.kind_ = Kind::kKey;
    return element;
  }
  static constexpr PathElement SetItem(const value::Value* item) {
    PathElement element;
    element.item_ = item;
    element.kind_ = Kind::kValue;
    return element;
  }
  static constexpr PathElement Index(int64_t index) {
    PathElement element;
    element.index_ = index;
    element.kind_ = Kind::kIndex;
    return element;
  }

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_field() const { return kind_ == Kind::kField; }
  constexpr bool is_key() const { return kind_ == Kind::kKey; }
  // Each only for its own kind.
  constexpr std::string_view field() const { return {text_, size_}; }
  // Of a field: no byte of its name needs escaping in JSON, as far as is known.
  constexpr bool plain() const { return plain_; }
  constexpr std::span<const KeyField> key() const { return {fields_, size_}; }
  constexpr const value::Value& item() const { return *item_; }
  constexpr int64_t index() const { return index_; }

  // Negative, zero or positive: fields by bytes, keys name by name, numbers by value.
  int Compare(const PathElement& other) const {
    if (kind_ == Kind::kField && other.kind_ == Kind::kField) {
      if (text_ == other.text_ && size_ == other.size_) return 0;
      // The names of a struct mostly differ in their first letter.
      if (size_ != 0 && other.size_ != 0 && *text_ != *other.text_) {
        return static_cast<unsigned char>(*text_) < static_cast<unsigned char>(*other.text_) ? -1
                                                                                             : 1;
      }
      return field().compare(other.field());
    }
    return CompareSlow(other);
  }
  bool operator==(const PathElement& other) const {
    return kind_ == other.kind_ && (size_ == other.size_ || !is_field()) && Compare(other) == 0;
  }

  // Appends the member name that fieldsV1 has for this step: f:spec, k:{"name":"a"}.
  void AppendFieldsV1(std::string& out) const;
  // The reverse. Nothing for a kind of step that this server does not know, which readers skip.
  // Borrows from `text`; what must be built goes to `arena`.
  static Result<std::optional<PathElement>> ParseFieldsV1(value::Arena& arena,
                                                          std::string_view text);

  // Appends the form messages use: .spec, [name="a"], [="a"], [0].
  void AppendTo(std::string& out) const;

 private:
  int CompareSlow(const PathElement& other) const;

  union {
    const char* text_;
    const KeyField* fields_;
    const value::Value* item_;
    int64_t index_;
  };
  uint32_t size_;
  Kind kind_;
  bool plain_ = false;
};
static_assert(sizeof(PathElement) == 16);

// The whole path for messages: .spec.containers[name="a"].image
std::string PathToString(std::span<const PathElement> path);

}  // namespace keelson::schema
