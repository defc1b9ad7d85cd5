#pragma once

// What server-side apply does with objects of a known type: compare, merge, take fields out, name
// the fields an object sets.
//
// A type says of every list and map whether it is one value (atomic) or has items that different
// writers may own: maps and structs field by field, keyed lists item by key, sets item by value.
// What the type does not describe (custom fields kept as they are, any-JSON) is seen as its value
// suggests: objects field by field, lists whole.
//
// All functions are pure. Results are built in the arena given and share whatever they can with
// their arguments, so they live as long as the arena and the arguments. Failures carry upstream's
// sentence with the field's path in front: `.spec.ports: duplicate entries for key [port=80]`.

#include "base/result.h"
#include "schema/field_set.h"
#include "schema/type.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::patch {

using schema::FieldSet;
using value::Arena;
using value::Value;

// The fields that differ between two objects. A path stands in at most one of the sets.
struct Comparison {
  FieldSet removed;
  FieldSet modified;
  FieldSet added;

  bool IsSame() const { return removed.empty() && modified.empty() && added.empty(); }
};
Result<Comparison> Compare(Arena& arena, const schema::Type& type, const Value& before,
                           const Value& after);

// `live` with `config` laid over it: a leaf that both set is taken from `config`, items of keyed
// lists and sets are joined in an order that keeps config's, nothing is removed.
Result<Value> MergeTyped(Arena& arena, const schema::Type& type, const Value& live,
                         const Value& config);

// Every leaf and item that the object sets.
FieldSet ToFieldSet(Arena& arena, const schema::Type& type, const Value& object);

// The object without the items and fields of the set. A container left with nothing becomes null,
// as upstream has it; decoding by type drops such nulls.
Value RemoveItems(Arena& arena, const schema::Type& type, const Value& object, FieldSet items);
// Only the items and fields of the set.
Value ExtractItems(Arena& arena, const schema::Type& type, const Value& object, FieldSet items);

// Whether the object has the shape of its type. Only configuration that is being applied may not
// repeat an item of a keyed list or set.
enum class Duplicates { kAllowed, kRefused };
Result<void> CheckTyped(Arena& arena, const schema::Type& type, const Value& object,
                        Duplicates duplicates);

// The set with every declared field that it has something below of.
FieldSet WithNamedFields(Arena& arena, const schema::Type& type, FieldSet set);
// The set as the type would have it now: fields below what has become atomic are replaced by the
// atomic field itself.
FieldSet ReconcileWithType(Arena& arena, const schema::Type& type, FieldSet set);

}  // namespace keelson::patch
