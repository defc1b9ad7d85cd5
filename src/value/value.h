#pragma once

// Value: a node of an object tree, as JSON sees it; 16 bytes, copied freely.
//
// A Value borrows what it points to (string bytes, items, members) from an Arena or from constant
// memory. Reading never changes it, so trees may share subtrees and be read from many threads.
// A Document (document.h) pairs a root with the arena it lives in; a Builder edits.
//
// Integers that fit int64 are kInt, every other number is kDouble. Objects keep the order of
// their members. Typed objects hold exactly what their JSON form holds: quantities, times and
// bytes are strings here, in canonical spelling (scalar.h and quantity.h read them).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/name.h"

namespace keelson::value {

enum class Kind : uint8_t { kNull, kBool, kInt, kDouble, kString, kList, kObject };

std::string_view KindName(Kind kind);

struct Member;

class Value {
 public:
  constexpr Value() : int_(0), size_(0), kind_(Kind::kNull) {}
  static constexpr Value Null() { return {}; }
  static constexpr Value Bool(bool b) { return Value(Kind::kBool, int64_t{b}); }
  static constexpr Value Int(int64_t i) { return Value(Kind::kInt, i); }
  static constexpr Value Double(double d) { return Value(d); }
  // The text is borrowed. `plain` promises that no byte of it needs escaping in JSON.
  static constexpr Value String(std::string_view text, bool plain = false) {
    return Value(text, plain);
  }
  static constexpr Value List(std::span<const Value> items) { return Value(items); }
  static constexpr Value Object(std::span<const Member> members);
  static constexpr Value EmptyList() { return List({}); }
  static constexpr Value EmptyObject();

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_null() const { return kind_ == Kind::kNull; }
  constexpr bool is_bool() const { return kind_ == Kind::kBool; }
  constexpr bool is_int() const { return kind_ == Kind::kInt; }
  constexpr bool is_double() const { return kind_ == Kind::kDouble; }
  constexpr bool is_number() const { return is_int() || is_double(); }
  constexpr bool is_string() const { return kind_ == Kind::kString; }
  constexpr bool is_list() const { return kind_ == Kind::kList; }
  constexpr bool is_object() const { return kind_ == Kind::kObject; }

  // Reading as a kind it does not have gives that kind's zero: an absent field and a zero one
  // mean the same to most readers.
  constexpr bool AsBool() const { return is_bool() && int_ != 0; }
  constexpr int64_t AsInt() const { return is_int() ? int_ : 0; }
  constexpr double AsDouble() const {
    return is_double() ? double_ : is_int() ? static_cast<double>(int_) : 0;
  }
  constexpr std::string_view AsString() const {
    return is_string() ? std::string_view(string_, size_) : std::string_view();
  }
  constexpr std::span<const Value> items() const {
    return is_list() ? std::span<const Value>(items_, size_) : std::span<const Value>();
  }
  constexpr std::span<const Member> members() const;

  // Bytes, items or members.
  constexpr uint32_t size() const { return size_; }
  constexpr bool plain() const { return plain_; }

  // The member's value, or nullptr. Linear, over a 16-bit tag per member.
  const Value* Find(const Name& name) const;
  const Value* Find(std::string_view name) const {
    return Find(name, static_cast<uint16_t>(HashName(name)));
  }
  // The member's or item's value, or null when there is none.
  Value operator[](const Name& name) const;
  Value operator[](std::string_view name) const;
  Value At(size_t index) const {
    return is_list() && index < size_ ? items_[index].Shared() : Value();
  }
  // A copy that does not claim its storage (see Builder).
  constexpr Value Shared() const {
    Value copy = *this;
    copy.unique_ = 0;
    return copy;
  }

  // Same kind and content; the order of members does not matter. 1 and 1.0 differ.
  bool operator==(const Value& other) const;

 private:
  friend struct Member;
  friend class Builder;
  friend class Ref;

  const Value* Find(std::string_view name, uint16_t tag) const;

  constexpr Value(Kind kind, int64_t i) : int_(i), size_(0), kind_(kind) {}
  constexpr explicit Value(double d) : double_(d), size_(0), kind_(Kind::kDouble) {}
  constexpr Value(std::string_view text, bool plain)
      : string_(text.data()),
        size_(static_cast<uint32_t>(text.size())),
        kind_(Kind::kString),
        plain_(plain) {}
  constexpr explicit Value(std::span<const Value> items)
      : items_(items.data()), size_(static_cast<uint32_t>(items.size())), kind_(Kind::kList) {}
  constexpr Value(const Member* members, uint32_t size)
      : members_(members), size_(size), kind_(Kind::kObject) {}

  union {
    int64_t int_;
    double double_;
    const char* string_;
    const Value* items_;
    const Member* members_;
  };
  uint32_t size_;
  Kind kind_ : 4;
  uint8_t plain_ : 1 = 0;
  uint8_t unique_ : 1 = 0;     // this slot alone refers to its storage, which a Builder may edit
  uint8_t capacity_log2_ = 0;  // of unique storage
  uint16_t tag_ = 0;           // of the name, when this is the value of a Member
};
static_assert(sizeof(Value) == 16);

struct Member {
  constexpr Member() : name(nullptr) {}
  constexpr Member(const Name* n, Value v) : name(n), value(v) { value.tag_ = n->tag(); }
  constexpr uint16_t tag() const { return value.tag_; }
  constexpr std::string_view key() const { return name->text(); }

  const Name* name;
  Value value;
};
static_assert(sizeof(Member) == 24);

constexpr Value Value::Object(std::span<const Member> members) {
  return Value(members.data(), static_cast<uint32_t>(members.size()));
}
constexpr Value Value::EmptyObject() { return Value(static_cast<const Member*>(nullptr), 0); }
constexpr std::span<const Member> Value::members() const {
  return is_object() ? std::span<const Member>(members_, size_) : std::span<const Member>();
}
inline const Value* Value::Find(const Name& name) const {
  uint16_t tag = name.tag();
  for (const Member& member : members()) {
    if (member.tag() == tag && *member.name == name) return &member.value;
  }
  return nullptr;
}
inline Value Value::operator[](const Name& name) const {
  const Value* found = Find(name);
  return found ? found->Shared() : Value();
}
inline Value Value::operator[](std::string_view name) const {
  const Value* found = Find(name);
  return found ? found->Shared() : Value();
}

// A total order: numbers (by value) < strings < booleans < lists < objects < null; lists item by
// item, objects by sorted members. The order that upstream's field sets keep their keys in.
int Compare(const Value& a, const Value& b);

}  // namespace keelson::value
