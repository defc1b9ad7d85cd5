#include "schema/struct_entries.h"

#include <algorithm>

#include "schema/zero.h"

namespace keelson::schema {

using value::Arena;
using value::Member;
using value::Value;

Value FinishStruct(const Type& type, std::vector<Entry>& entries, size_t first, Arena& arena) {
  auto begin = entries.begin() + static_cast<ptrdiff_t>(first);
  auto by_index = [](const Entry& a, const Entry& b) { return a.index < b.index; };
  if (!std::is_sorted(begin, entries.end(), by_index)) std::sort(begin, entries.end(), by_index);
  auto fields = type.fields();
  // Room for every field; what is not used goes back.
  auto* members = arena.AllocateArray<Member>(fields.size());
  Member* to = members;
  const Entry* at = entries.data() + first;
  const Entry* end = entries.data() + entries.size();
  for (uint32_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    const Value* set = at != end && at->index == i ? &at++->value : nullptr;
    if (set && !(set->is_null() && !field.pointer())) {
      if (!IsOmitted(field, *set)) new (to++) Member(field.name, *set);
    } else if (AlwaysWritten(field)) {
      new (to++) Member(field.name, ZeroValue(field, arena));
    }
  }
  entries.resize(first);
  auto count = static_cast<size_t>(to - members);
  arena.Return(to, (fields.size() - count) * sizeof(Member));
  if (count == 0) return Value::EmptyObject();
  return Value::Object({members, count});
}

Value FinishMap(std::vector<Entry>& entries, size_t first, Arena& arena) {
  size_t count = entries.size() - first;
  if (count == 0) return Value::EmptyObject();
  auto* members = arena.AllocateArray<Member>(count);
  for (size_t i = 0; i < count; ++i) {
    new (&members[i]) Member(entries[first + i].name, entries[first + i].value);
  }
  entries.resize(first);
  return Value::Object({members, count});
}

Value FinishList(std::vector<Value>& items, size_t first, Arena& arena) {
  size_t count = items.size() - first;
  if (count == 0) return Value::EmptyList();
  auto* copy = arena.AllocateArray<Value>(count);
  std::copy(items.begin() + static_cast<ptrdiff_t>(first), items.end(), copy);
  items.resize(first);
  return Value::List({copy, count});
}

}  // namespace keelson::schema
