#include "value/value.h"

#include <algorithm>
#include <vector>

namespace keelson::value {

std::string_view KindName(Kind kind) {
  static constexpr std::string_view kNames[] = {"null",   "bool", "integer", "number",
                                                "string", "list", "object"};
  return kNames[static_cast<size_t>(kind)];
}

const Value* Value::Find(std::string_view name, uint16_t tag) const {
  for (const Member& member : members()) {
    if (member.tag() == tag && member.key() == name) return &member.value;
  }
  return nullptr;
}

namespace {

bool EqualMembers(std::span<const Member> a, std::span<const Member> b) {
  if (a.size() != b.size()) return false;
  Value other = Value::Object(b);
  for (size_t i = 0; i < a.size(); ++i) {
    // Objects that share a schema have their members in the same order.
    if (*a[i].name == *b[i].name) {
      if (!(a[i].value == b[i].value)) return false;
      continue;
    }
    const Value* match = other.Find(*a[i].name);
    if (!match || !(a[i].value == *match)) return false;
  }
  return true;
}

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int Rank(Kind kind) {
  switch (kind) {
    case Kind::kInt:
    case Kind::kDouble:
      return 0;
    case Kind::kString:
      return 1;
    case Kind::kBool:
      return 2;
    case Kind::kList:
      return 3;
    case Kind::kObject:
      return 4;
    case Kind::kNull:
      return 5;
  }
  return 6;
}

std::vector<const Member*> SortedMembers(const Value& object) {
  std::vector<const Member*> sorted;
  sorted.reserve(object.size());
  for (const Member& member : object.members()) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(),
            [](const Member* a, const Member* b) { return a->key() < b->key(); });
  return sorted;
}

int CompareObjects(const Value& a, const Value& b) {
  auto left = SortedMembers(a);
  auto right = SortedMembers(b);
  for (size_t i = 0;; ++i) {
    if (i >= left.size() && i >= right.size()) return 0;
    if (i >= left.size()) return -1;
    if (i >= right.size()) return 1;
    if (int c = left[i]->key().compare(right[i]->key()); c != 0) return c < 0 ? -1 : 1;
    if (int c = Compare(left[i]->value, right[i]->value); c != 0) return c;
  }
}

}  // namespace

bool Value::operator==(const Value& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
    case Kind::kInt:
      return int_ == other.int_;
    case Kind::kDouble:
      return double_ == other.double_;
    case Kind::kString:
      return AsString() == other.AsString();
    case Kind::kList:
      return items_ == other.items_ ? size_ == other.size_
                                    : std::equal(items().begin(), items().end(),
                                                 other.items().begin(), other.items().end());
    case Kind::kObject:
      if (members_ == other.members_ && size_ == other.size_) return true;
      return EqualMembers(members(), other.members());
  }
  return false;
}

int Compare(const Value& a, const Value& b) {
  if (int c = Order(Rank(a.kind()), Rank(b.kind())); c != 0) return c;
  switch (a.kind()) {
    case Kind::kInt:
      if (b.is_int()) return Order(a.AsInt(), b.AsInt());
      [[fallthrough]];
    case Kind::kDouble:
      return Order(a.AsDouble(), b.AsDouble());
    case Kind::kString:
      return Order(a.AsString().compare(b.AsString()), 0);
    case Kind::kBool:
      return Order(a.AsBool(), b.AsBool());
    case Kind::kList: {
      auto left = a.items();
      auto right = b.items();
      for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
        if (int c = Compare(left[i], right[i]); c != 0) return c;
      }
      return Order(left.size(), right.size());
    }
    case Kind::kObject:
      return CompareObjects(a, b);
    case Kind::kNull:
      return 0;
  }
  return 0;
}

}  // namespace keelson::value
