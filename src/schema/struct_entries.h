#pragma once

// The last step of every decoder: from the members it met to a struct in canonical form. Internal.

#include <cstdint>
#include <string_view>
#include <vector>

#include "schema/type.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::schema {

// A member on its way into an object, with its place in the struct. Decoders keep a stack of them.
struct Entry {
  const value::Name* name = nullptr;
  value::Value value;
  uint32_t index = 0;

  std::string_view key() const { return name->text(); }
};

// Room is made first and filled from registers then. Handed to the vector by reference, the value
// would be stored in halves and at once read back whole, a stall longer than decoding it took.
inline void Push(std::vector<Entry>& entries, const value::Name* name, value::Value value,
                 uint32_t index) {
  Entry& entry = entries.emplace_back();
  entry.name = name;
  entry.value = value;
  entry.index = index;
}
inline void Push(std::vector<value::Value>& items, value::Value item) {
  items.emplace_back() = item;
}

// Takes the entries from `first` on off the stack. They are put in struct order, without what
// is omitted and with what is written though nobody set it. A null entry counts as not set.
value::Value FinishStruct(const Type& type, std::vector<Entry>& entries, size_t first,
                          value::Arena& arena);

// Takes the entries from `first` on off the stack, as they are.
value::Value FinishMap(std::vector<Entry>& entries, size_t first, value::Arena& arena);

// Takes the items from `first` on off the stack.
value::Value FinishList(std::vector<value::Value>& items, size_t first, value::Arena& arena);

}  // namespace keelson::schema
