#include "patch/list_items.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>

#include "base/quote.h"

namespace keelson::patch {
namespace {

using schema::KeyField;
using schema::PathElement;
using value::Value;

// The OpenAPI default of a key field. An empty default counts: items without the key are items
// with the key empty.
std::optional<Value> KeyDefault(const TypeView& item, std::string_view key) {
  const schema::Field* field = item.FindField(key);
  if (!field) return std::nullopt;
  if (field->Has(schema::Field::kDefault)) return *field->extra->default_value;
  if (!field->Has(schema::Field::kZeroDefault)) return std::nullopt;
  switch (field->type->kind) {
    case schema::TypeKind::kInt32:
    case schema::TypeKind::kInt64:
    case schema::TypeKind::kDouble:
      return Value::Int(0);
    case schema::TypeKind::kBool:
      return Value::Bool(false);
    case schema::TypeKind::kStruct:
    case schema::TypeKind::kMap:
      return Value::EmptyObject();
    default:
      return Value::String("");
  }
}

std::string QuotedList(std::span<const std::string_view> names) {
  std::string text = "[";
  for (std::string_view name : names) {
    if (text.size() > 1) text += ' ';
    AppendQuoted(text, name);
  }
  return text + "]";
}

Result<PathElement> KeyedElement(value::Arena& arena, const TypeView& list, const Value& item) {
  if (item.is_null()) {
    return Fail(ErrorCode::kInvalid, "associative list with keys may not have a null element");
  }
  if (!item.is_object()) {
    return Fail(ErrorCode::kInvalid, "associative list with keys may not have non-map elements");
  }
  auto keys = list.keys();
  auto* fields = arena.AllocateArray<KeyField>(keys.size());
  size_t count = 0;
  TypeView item_type = list.ListElement();
  for (std::string_view key : keys) {
    if (const Value* given = item.Find(key)) {
      new (&fields[count++]) KeyField{key, given->Shared()};
    } else if (auto fallback = KeyDefault(item_type, key)) {
      new (&fields[count++]) KeyField{key, *fallback};
    }
  }
  if (!keys.empty() && count == 0) {
    return Fail(ErrorCode::kInvalid,
                "associative list with keys has an element that omits all key fields {} (and "
                "doesn't have default values for any key fields)",
                QuotedList(keys));
  }
  std::sort(fields, fields + count,
            [](const KeyField& a, const KeyField& b) { return a.name < b.name; });
  return PathElement::Key({fields, count});
}

}  // namespace

Result<PathElement> ItemElement(value::Arena& arena, const TypeView& list, const Value& item) {
  if (!list.keys().empty()) return KeyedElement(arena, list, item);
  switch (item.kind()) {
    case value::Kind::kObject:
      return Fail(ErrorCode::kInvalid,
                  "associative list without keys has an element that's a map type");
    case value::Kind::kList:
      return Fail(ErrorCode::kInvalid, "not supported: associative list with lists as elements");
    case value::Kind::kNull:
      return Fail(ErrorCode::kInvalid,
                  "associative list without keys has an element that's an explicit null");
    default:
      return PathElement::SetItem(&item);
  }
}

Result<ListItems> ListItems::Make(value::Arena& arena, const TypeView& list, const Value* items) {
  ListItems out;
  if (!items) return out;
  for (const Value& item : items->items()) {
    auto element = ItemElement(arena, list, item);
    if (!element) {
      return Fail(ErrorCode::kInvalid, ": element {}: {}", out.size(), element.error().message);
    }
    out.elements_.push_back(*element);
    out.items_.push_back(&item);
  }
  out.Sort();
  return out;
}

ListItems ListItems::MakeFromProper(value::Arena& arena, const TypeView& list, const Value& items) {
  ListItems out;
  for (const Value& item : items.items()) {
    auto element = ItemElement(arena, list, item);
    if (!element) continue;
    out.elements_.push_back(*element);
    out.items_.push_back(&item);
  }
  out.Sort();
  return out;
}

void ListItems::Sort() {
  sorted_.resize(size());
  std::iota(sorted_.begin(), sorted_.end(), 0u);
  std::sort(sorted_.begin(), sorted_.end(), [&](uint32_t a, uint32_t b) {
    int c = elements_[a].Compare(elements_[b]);
    return c != 0 ? c < 0 : a < b;
  });
}

std::span<const uint32_t> ListItems::Find(const PathElement& element) const {
  auto first = std::lower_bound(
      sorted_.begin(), sorted_.end(), element,
      [&](uint32_t at, const PathElement& e) { return elements_[at].Compare(e) < 0; });
  auto last = first;
  while (last != sorted_.end() && elements_[*last].Compare(element) == 0) ++last;
  return {first, last};
}

}  // namespace keelson::patch
