#pragma once

// The last step of every decoder: from the members it met to a struct in canonical form. Internal.

#include <cstdint>
#include <vector>

#include "schema/type.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::schema {

// A member on its way into an object, with its place in the struct. Decoders keep a stack of them.
struct Entry {
  value::Member member;
  uint32_t index;
};

// Takes the entries from `first` on off the stack. They are put in struct order, without what
// is omitted and with what is written though nobody set it. A null entry counts as not set.
value::Value FinishStruct(const Type& type, std::vector<Entry>& entries, size_t first,
                          value::Arena& arena);

// Takes the entries from `first` on off the stack, as they are.
value::Value FinishMap(std::vector<Entry>& entries, size_t first, value::Arena& arena);

// Takes the items from `first` on off the stack.
value::Value FinishList(std::vector<value::Value>& items, size_t first, value::Arena& arena);

}  // namespace keelson::schema
