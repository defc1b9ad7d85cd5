#pragma once

// metadata.managedFields: who owns which fields of an object.
//
// An entry belongs to a manager, an operation and a subresource; update entries also to the version
// they were made in, while an applier has one entry whatever version it uses. Everything is
// borrowed from the object read, the arena or constants.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "schema/field_set.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::patch {

enum class Operation : uint8_t { kApply, kUpdate };

struct ManagedEntry {
  std::string_view manager;
  Operation operation = Operation::kUpdate;
  std::string_view api_version;
  std::string_view subresource;
  std::string_view time;  // RFC 3339, UTC, whole seconds; empty when none
  schema::FieldSet fields;

  // Whether both are the same writer, so that one entry must hold the fields of both.
  bool SameWriter(const ManagedEntry& other) const;
  // The key upstream files the writer under; its order is what entries are capped and conflicts
  // are listed in.
  std::string Identifier() const;
};

class ManagedFields {
 public:
  // Reads the entries. Of several for the same writer the last counts.
  static Result<ManagedFields> Decode(value::Arena& arena, const value::Value& managed_fields);
  // The list as it is stored: appliers first, each group by time, manager, version, subresource.
  // Null when there are no entries.
  value::Value Encode(value::Arena& arena) const;

  bool empty() const { return entries_.empty(); }
  std::span<ManagedEntry> entries() { return entries_; }
  std::span<const ManagedEntry> entries() const { return entries_; }
  ManagedEntry* Find(const ManagedEntry& writer);
  // Adds the entry, or replaces the one of the same writer.
  void Put(const ManagedEntry& entry);
  void Remove(const ManagedEntry& writer);
  template <typename Predicate>
  void RemoveIf(Predicate&& predicate) {
    std::erase_if(entries_, predicate);
  }

  // Joins the oldest update entries of one version into an entry of `ancient-changes` until no more
  // than `limit` update entries are left, or no two of a version.
  void CapUpdates(value::Arena& arena, size_t limit);

 private:
  std::vector<ManagedEntry> entries_;
};

// True for the two lists with which a client asks that ownership be forgotten: [] and [{}].
bool AsksForReset(const value::Value& managed_fields);

// 2026-01-31T12:00:00Z, in the arena.
std::string_view FormatTime(value::Arena& arena, WallTime time);

}  // namespace keelson::patch
