#include "schema/random_object.h"

#include <algorithm>
#include <array>
#include <map>

#include "schema/decode_json.h"
#include "value/timestamp.h"

namespace keelson::schema::testing {

using value::Member;
using value::Value;

namespace {
constexpr int kMaxDepth = 9;
}

std::string RandomObject::Text() {
  static constexpr std::array<std::string_view, 16> kPieces = {
      "a", "B", "7",  "-",  ".",  "/", " ",  "<",
      ">", "&", "\"", "\\", "\n", "é", "世", "\xE2\x80\xA8"};
  std::string text;
  for (uint32_t i = Below(9); i > 0; --i) text += kPieces[Below(kPieces.size())];
  return text;
}

Value RandomObject::Struct(const Type& type, int depth) {
  std::vector<Member> members;
  for (const Field& field : type.fields()) {
    if (field.Has(Field::kNotInJson) || Below(100) < 45) continue;
    if (depth > kMaxDepth && field.pointer()) continue;
    // Protobuf carries these for the outermost object only.
    if (depth > 0 && type.Has(Type::kHasTypeMeta) &&
        (field.text() == "kind" || field.text() == "apiVersion")) {
      continue;
    }
    members.emplace_back(field.name, Make(*field.type, depth + 1));
  }
  std::shuffle(members.begin(), members.end(), random_);
  auto* copy = arena_.AllocateArray<Member>(members.size());
  std::copy(members.begin(), members.end(), copy);
  return Value::Object({copy, members.size()});
}

Value RandomObject::Map(const Type& type, int depth) {
  std::map<std::string, Value> entries;
  for (uint32_t i = depth > kMaxDepth ? 0 : Below(4); i > 0; --i) {
    entries[Text()] = Make(*type.element, depth + 1);
  }
  auto* copy = arena_.AllocateArray<Member>(entries.size());
  size_t count = 0;
  for (const auto& [key, value] : entries) {
    new (&copy[count++]) Member(value::InternName(arena_, key), value);
  }
  return Value::Object({copy, count});
}

Value RandomObject::List(const Type& type, int depth) {
  uint32_t count = depth > kMaxDepth ? 0 : Below(4);
  auto* items = arena_.AllocateArray<Value>(count);
  for (uint32_t i = 0; i < count; ++i) new (&items[i]) Value(Make(*type.element, depth + 1));
  return Value::List({items, count});
}

Value RandomObject::Make(const Type& type, int depth) {
  switch (type.kind) {
    case TypeKind::kStruct:
      return Struct(type, depth);
    case TypeKind::kMap:
      return Map(type, depth);
    case TypeKind::kList:
      return List(type, depth);
    case TypeKind::kString:
      return String(Text());
    case TypeKind::kInt32:
      return Value::Int(static_cast<int32_t>(random_()));
    case TypeKind::kInt64:
      return Value::Int(static_cast<int64_t>(random_()));
    case TypeKind::kBool:
      return Value::Bool(Below(2) == 1);
    case TypeKind::kDouble:
      return Value::Double(static_cast<double>(Below(100000)) / 64);
    case TypeKind::kBytes:
      return String(EncodeBase64(Text() + std::string(Below(3), '\xff')));
    case TypeKind::kQuantity: {
      static constexpr std::array<std::string_view, 10> kAmounts = {
          "0",  "100m", "1.5Gi", "1024Ki", "12e6", "9223372036854775808",
          "-3", "0.1m", "+7",    "64Mi"};
      return String(kAmounts[Below(kAmounts.size())]);
    }
    case TypeKind::kIntOrString:
      return Below(2) == 0 ? Value::Int(static_cast<int32_t>(random_())) : String(Text());
    case TypeKind::kTime:
      if (Below(5) == 0) return Value();
      return String(value::FormatTime({static_cast<int64_t>(random_() % 4000000000), 0}));
    case TypeKind::kMicroTime:
      if (Below(5) == 0) return Value();
      return String(value::FormatMicroTime({static_cast<int64_t>(random_() % 4000000000),
                                            static_cast<int32_t>(Below(1000000)) * 1000}));
    case TypeKind::kDuration:
      return String(value::FormatDuration(static_cast<int64_t>(random_() >> Below(63))));
    case TypeKind::kSchemaOrBool:
      return Below(2) == 0 ? Value::Bool(Below(2) == 1) : Make(*type.element, depth + 3);
    case TypeKind::kSchemaOrArray: {
      if (Below(2) == 0) return Make(*type.element, depth + 3);
      auto* items = arena_.AllocateArray<Value>(1);
      new (items) Value(Make(*type.element, depth + 3));
      return Value::List({items, 1});
    }
    case TypeKind::kSchemaOrStrings: {
      if (Below(2) == 0) return Make(*type.element, depth + 3);
      auto* items = arena_.AllocateArray<Value>(1);
      new (items) Value(String(Text()));
      return Value::List({items, 1});
    }
    default: {
      auto* members = arena_.AllocateArray<Member>(2);
      new (&members[0]) Member(value::InternName(arena_, "z"), String(Text()));
      new (&members[1]) Member(value::InternName(arena_, "a"), Value::Int(Below(100)));
      return Value::Object({members, 2});
    }
  }
}

}  // namespace keelson::schema::testing
