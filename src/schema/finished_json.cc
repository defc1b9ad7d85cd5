#include "schema/finished_json.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "value/json.h"
#include "value/json_cursor.h"

namespace keelson::schema {
namespace {

using value::Arena;
using value::JsonCursor;
using value::Member;
using value::Name;
using value::Value;

class Reader {
 public:
  Reader(std::string_view json, Arena& arena) : cursor_(json), arena_(arena) {
    members_.reserve(64);
    items_.reserve(32);
  }

  Value Read(const Type& type) {
    switch (type.kind) {
      case TypeKind::kStruct:
        return Struct(type);
      case TypeKind::kMap:
        return Map(type);
      case TypeKind::kList:
        return List(type);
      case TypeKind::kRawExtension:
      case TypeKind::kFieldsV1:
        return cursor_.Peek() == 'n' ? Null() : Value::String(cursor_.TakeRaw());
      case TypeKind::kJson:
      case TypeKind::kAny:
      case TypeKind::kUnspecified:
        return Untyped();
      case TypeKind::kSchemaOrBool:
      case TypeKind::kSchemaOrArray:
      case TypeKind::kSchemaOrStrings:
        return EitherOr(type);
      default:
        return Scalar();
    }
  }

 private:
  Value Null() {
    cursor_.TakeScalar();
    return {};
  }

  Value Scalar() {
    if (cursor_.Peek() == '"') return Value::String(Decoded(cursor_.TakeString(), arena_));
    const auto text = cursor_.TakeScalar();
    if (text.starts_with('t') || text.starts_with('f')) return Value::Bool(text == "true");
    const char* end = text.data() + text.size();
    int64_t integer = 0;
    if (std::from_chars(text.data(), end, integer).ptr == end) return Value::Int(integer);
    double real = 0;
    if (std::from_chars(text.data(), end, real).ptr == end) return Value::Double(real);
    return {};
  }

  Value Struct(const Type& type) {
    if (cursor_.Peek() != '{') return Scalar();
    const size_t first = members_.size();
    uint32_t hint = 0;
    for (bool more = cursor_.Enter('{'); more; more = cursor_.Next('}')) {
      const auto key = cursor_.TakeKey();
      const Field* field = type.FindNear(key.raw, hint);
      if (field == nullptr) {
        cursor_.Skip();
        continue;
      }
      const Value value = Read(*field->type);
      members_.emplace_back(field->name, value);
    }
    return Value::Object(Take(members_, first));
  }

  Value Map(const Type& type) {
    if (cursor_.Peek() != '{') return Scalar();
    const size_t first = members_.size();
    for (bool more = cursor_.Enter('{'); more; more = cursor_.Next('}')) {
      const auto key = Decoded(cursor_.TakeKey(), arena_);
      const auto* name = new (arena_.Allocate(sizeof(Name))) Name(Name::Plain(key));
      const Value value = Read(*type.element);
      members_.emplace_back(name, value);
    }
    return Value::Object(Take(members_, first));
  }

  Value List(const Type& type) {
    if (cursor_.Peek() != '[') return Scalar();
    const size_t first = items_.size();
    for (bool more = cursor_.Enter('['); more; more = cursor_.Next(']')) {
      const Value value = Read(*type.element);
      items_.push_back(value);
    }
    return Value::List(Take(items_, first));
  }

  Value EitherOr(const Type& type) {
    static constexpr Type kText{.kind = TypeKind::kString};
    if (cursor_.Peek() == '{') return Struct(*type.element);
    if (cursor_.Peek() != '[') return Scalar();
    const Type list{.kind = TypeKind::kList,
                    .element = type.kind == TypeKind::kSchemaOrArray ? type.element : &kText};
    return List(list);
  }

  // Of no known type: read with all care, and rare.
  Value Untyped() {
    value::JsonReader reader(arena_, cursor_.TakeRaw());
    std::string error;
    return value::ReadJsonValue(reader, {}, error);
  }

  // Moves the entries from `first` on to the arena.
  template <typename T>
  std::span<const T> Take(std::vector<T>& entries, size_t first) {
    const size_t count = entries.size() - first;
    T* taken = arena_.AllocateArray<T>(count);
    std::copy_n(entries.begin() + static_cast<ptrdiff_t>(first), count, taken);
    entries.resize(first);
    return {taken, count};
  }

  JsonCursor cursor_;
  Arena& arena_;
  std::vector<Member> members_;
  std::vector<Value> items_;
};

}  // namespace

Value ReadFinishedJson(const Type& type, std::string_view json, Arena& arena) {
  return Reader(json, arena).Read(type);
}

}  // namespace keelson::schema
