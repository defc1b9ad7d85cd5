#pragma once

// From the schema of a CustomResourceDefinition to a compiled Type.
//
// The schema is taken as it stands in the stored definition: valid and structural, since the
// definition was validated when it was written. What cannot be compiled nevertheless is an error
// that names the place. Fields stand sorted by name, the order in which upstream writes custom
// objects; none is left out or written for being empty. Descriptions are not kept: OpenAPI
// publishes the definition's own text.

#include "base/result.h"
#include "schema/type.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::schema {

// Input past these is refused.
inline constexpr size_t kMaxCrdDepth = 64;
inline constexpr size_t kMaxCrdProperties = 16384;  // of one object

struct CrdOptions {
  // The type of metadata, at the root and in embedded resources: meta/v1 ObjectMeta.
  const Type* object_meta = nullptr;
};

struct CrdType {
  const Type* type = nullptr;  // lives in the arena
  value::ArenaRef arena;

  // What the compiled form takes, for the memory budget.
  size_t bytes() const { return arena ? arena->reserved() : 0; }
};

// Whether a type is a custom object's: a whole one, or one embedded in another. Such objects are
// read as they were written, since it is validation that judges them; the types of built-in kinds
// have names.
constexpr bool IsCustomObject(const Type& type) {
  return type.info == nullptr && type.Has(Type::kHasTypeMeta);
}

// `schema` is openAPIV3Schema. Fails with kInvalid or kTooLarge and "spec.replicas: <what>".
Result<CrdType> BuildCrdType(const value::Value& schema, const CrdOptions& options);

}  // namespace keelson::schema
