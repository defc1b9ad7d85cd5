#pragma once

// Updater: how a write moves the ownership of fields, and what an apply makes of an object.
//
// Knows sets, types and versions, but nothing of clocks, managers' names or metadata; ownership.h
// adds those. Pure; results are built in the arena given.

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "patch/conflict.h"
#include "patch/field_filter.h"
#include "patch/managed_fields.h"
#include "patch/typed.h"
#include "schema/type.h"
#include "value/document.h"

namespace keelson::patch {

// The versions that one kind is served in. Owners may have written in any of them, and their fields
// are only meaningful there.
class VersionConverter {
 public:
  virtual ~VersionConverter() = default;
  // The kind's type in that version; null when it is not served any more, and then what was owned
  // in it is forgotten.
  virtual const schema::Type* TypeIn(std::string_view api_version) const = 0;
  // The object in that version, which TypeIn knows.
  virtual Result<value::Document> Convert(const value::Document& object,
                                          std::string_view api_version) const = 0;
};

// Per version, what callers may own; a version without an entry is not filtered.
using FieldFilters = std::map<std::string, FieldFilter, std::less<>>;

class Updater {
 public:
  // All outlive the updater. Without a converter only `api_version` is known.
  Updater(const schema::Type& type, std::string_view api_version, const FieldFilters& filters,
          const VersionConverter* converter)
      : type_(type), api_version_(api_version), filters_(filters), converter_(converter) {}

  // For a write that made `object` from `live`: takes what changed from all owners and returns it
  // as the fields that the writer now owns.
  Result<FieldSet> Update(Arena& arena, const Value& live, const Value& object,
                          ManagedFields& managed) const;

  // Lays `config` over `live`, drops what `applier` applied before and now leaves out unless
  // somebody else owns it, and hands the applied fields to `applier`, which must be an apply entry
  // (its fields are ignored). Nothing when the object does not change. With `force`, fields of
  // others are taken; otherwise a difference to them is a conflict.
  using ApplyFailure = std::variant<Error, Conflicts>;
  std::expected<std::optional<Value>, ApplyFailure> Apply(Arena& arena, const Value& live,
                                                          const Value& config,
                                                          ManagedFields& managed,
                                                          const ManagedEntry& applier,
                                                          bool force) const;

 private:
  struct Versioned {
    Value object;
    const schema::Type* type = nullptr;
    std::string_view api_version;
  };

  void Reconcile(Arena& arena, ManagedFields& managed) const;
  const schema::Type* TypeIn(std::string_view api_version) const;
  Result<Versioned> In(Arena& arena, const Versioned& from, std::string_view api_version) const;
  FieldSet Filter(Arena& arena, std::string_view api_version, FieldSet set) const;
  Result<Comparison> CompareIn(Arena& arena, const Value& live, const Value& object,
                               std::string_view api_version) const;
  // Takes the differences from every owner but `writer`; returns the differences.
  std::expected<Comparison, ApplyFailure> TakeFromOthers(Arena& arena, const Value& live,
                                                         const Value& object,
                                                         ManagedFields& managed,
                                                         const ManagedEntry* writer,
                                                         bool force) const;
  Result<Value> Prune(Arena& arena, const Value& merged, const ManagedFields& managed,
                      const ManagedEntry& last) const;
  Result<Versioned> AddBackOwned(Arena& arena, const Versioned& merged, Versioned pruned,
                                 const ManagedFields& managed) const;

  const schema::Type& type_;
  std::string_view api_version_;
  const FieldFilters& filters_;
  const VersionConverter* converter_;
};

}  // namespace keelson::patch
