#pragma once

// Walks that change a tree by its schema: defaulting, pruning, restoring canonical form.
//
// Each returns the tree it was given when there was nothing to change, and shares every untouched
// subtree otherwise. The functions on Documents put what they add into the document's own arena, so
// the document must still be the caller's alone.

#include <span>
#include <string>
#include <vector>

#include "schema/struct_editor.h"
#include "schema/type.h"
#include "value/document.h"

namespace keelson::schema {

// A default that depends on other fields. It runs when an object of the type is met, before the
// defaults of its fields, outer objects first.
struct DefaultHook {
  const Type* type = nullptr;
  void (*apply)(StructEditor& object) = nullptr;
};

// A default that depends on nothing but that OpenAPI does not publish, and the hook for a table of
// them: DefaultHook{&T::Schema(), FillDefaults<kDefaultsOfT>}.
struct FieldDefault {
  const value::Name* name = nullptr;
  value::Value value;
};
template <const auto& kDefaults>
void FillDefaults(StructEditor& object) {
  for (const FieldDefault& field : kDefaults) object.SetDefault(*field.name, field.value);
}

// The hooks of an API, found by type. Built once by whoever knows them and handed around.
class DefaultHooks {
 public:
  DefaultHooks() = default;
  explicit DefaultHooks(std::span<const DefaultHook> hooks);
  // Calls every hook of the type, in the order they were given.
  void Apply(StructEditor& object) const;
  bool empty() const { return hooks_.empty(); }

 private:
  std::vector<DefaultHook> hooks_;  // sorted by type
};

// Fills in what the schema says an unset field means, then what those defaults bring along.
value::Value ApplyDefaults(const Type& type, const value::Value& value, value::Arena& arena,
                           const DefaultHooks& hooks = {});
void ApplyDefaults(const Type& type, value::Document& object, const DefaultHooks& hooks = {});

// Drops what the type does not know, unless it preserves unknown fields. For custom resources; of
// the root, apiVersion, kind and metadata are left alone. Each dropped field's path goes to
// `unknown` when given, as strict decoding words it: unknown field "spec.x".
value::Value Prune(const Type& type, const value::Value& value, value::Arena& arena,
                   std::vector<std::string>* unknown = nullptr);
void Prune(const Type& type, value::Document& object, std::vector<std::string>* unknown = nullptr);

// Drops null members that are not nullable and have no default, as upstream does to custom
// resources before defaulting them.
value::Value PruneNulls(const Type& type, const value::Value& value, value::Arena& arena);
void PruneNulls(const Type& type, value::Document& object);

// What becomes of an empty list or map that is always written: what upstream keeps as protobuf
// comes back without it, and null is shown in its place.
enum class EmptyContainers : uint8_t { kKept, kLost };

// Restores canonical form (zero.h) after edits that did not keep it: struct order, sorted maps,
// nothing that is omitted, everything that is always written.
value::Value Normalize(const Type& type, const value::Value& value, value::Arena& arena,
                       EmptyContainers empty = EmptyContainers::kKept);
void Normalize(const Type& type, value::Document& object,
               EmptyContainers empty = EmptyContainers::kKept);

}  // namespace keelson::schema
