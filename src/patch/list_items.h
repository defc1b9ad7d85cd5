#pragma once

// The items of a keyed list or set, named by path elements.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "patch/type_view.h"
#include "schema/path_element.h"
#include "value/arena.h"

namespace keelson::patch {

// The path element of one item: its key fields with the defaults of those left out, or its value.
Result<schema::PathElement> ItemElement(value::Arena& arena, const TypeView& list,
                                        const value::Value& item);

// The elements of a list's items, searchable.
class ListItems {
 public:
  // An empty or null list has no items. Fails with `element 3: ...` at the first item without a
  // proper element.
  static Result<ListItems> Make(value::Arena& arena, const TypeView& list,
                                const value::Value* items);
  // The same, passing over such items.
  static ListItems MakeFromProper(value::Arena& arena, const TypeView& list,
                                  const value::Value& items);

  size_t size() const { return elements_.size(); }
  const schema::PathElement& element(size_t position) const { return elements_[position]; }
  const value::Value& item(size_t position) const { return *items_[position]; }

  // The positions that have this element, in order.
  std::span<const uint32_t> Find(const schema::PathElement& element) const;
  bool Has(const schema::PathElement& element) const { return !Find(element).empty(); }
  // All positions, sorted by element and then by position.
  std::span<const uint32_t> sorted() const { return sorted_; }

 private:
  void Sort();

  std::vector<const value::Value*> items_;
  std::vector<schema::PathElement> elements_;
  std::vector<uint32_t> sorted_;
};

}  // namespace keelson::patch
