#pragma once

// ObjectRecord: the value encoding of embedded stores, an object's JSON with its facts in front, so
// that a cache of a million objects fills without parsing any. Little endian:
//
//   "kls\0"  u8 version (1)  u8 field count  u16 label count  u32 field set  u32 JSON size
//   u32 version_at  u32 name_at  u32 ns_at  u32 uid_at  u16 type_end  u16 name size
//   u8 ns size  u8 uid size  u16 zero
//   label entries  { u32 key_at, u16 key size, u16 value size }, the value 3 bytes behind its key
//   field entries  { u28 at, u20 size }
//   JSON without resourceVersion
//   values that the JSON does not hold verbatim
//
// Positions count from the start of the JSON. `field set` names the resource's list of selectable
// fields at the time of writing: when the list has changed since, the facts must be taken from the
// JSON anew.

#include <span>
#include <string_view>

#include "storage/cached_object.h"

namespace keelson::storage {

class ObjectRecord {
 public:
  static constexpr std::string_view kMagic{"kls\0", 4};

  static bool IsRecord(std::string_view value) { return value.starts_with(kMagic); }

  // A number for a list of selectable fields.
  static uint32_t FieldSet(std::span<const std::string_view> fields);

  static Result<Slice> Encode(const ObjectImage& image, uint32_t field_set);

  // The object at `revision`; kCorrupt when the record contradicts itself, kUnsupported when it was
  // written by a newer version or for another field set.
  static Result<ObjectRef> Decode(std::string_view record, uint32_t field_set, Revision revision);

  // The record that an object was decoded from, byte for byte; it must be from_record().
  static Slice Restore(const CachedObject& object, uint32_t field_set);

  // The stored JSON, whatever the field set.
  static Result<std::string_view> Json(std::string_view record);
};

}  // namespace keelson::storage
