#pragma once

// Ownership: keeps metadata.managedFields through every write, and performs server-side apply.
//
// One per endpoint (a resource's version, or one of its subresources); immutable, shared by all
// threads. What upstream calls a field manager.
//
//   create:  ownership.Update(ownership.NewObject(), object, manager, now);
//   update:  ownership.Update(live, object, manager, now);
//   apply:   result = ownership.Apply(live or NewObject(), config, manager, force, now);
//
// Objects are in the endpoint's version and hold what their JSON form holds: `object` and `live`
// after defaulting and pruning. What Apply returns still has to be decoded by type and defaulted:
// members stand in no particular order, and a container that lost its last field is null.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"
#include "patch/updater.h"
#include "schema/resource.h"
#include "schema/type.h"
#include "value/document.h"

namespace keelson::patch {

struct OwnershipOptions {
  const schema::Type* type = nullptr;
  schema::GroupVersionKind kind;
  std::string subresource;  // empty for the resource itself
  FieldFilters filters;     // by apiVersion
  // Null when the kind has one version. Outlives the Ownership, as `type` does.
  const VersionConverter* converter = nullptr;
};

class Ownership {
 public:
  // More update entries than this are joined, oldest first.
  static constexpr size_t kMaxUpdateEntries = 10;

  explicit Ownership(OwnershipOptions options);

  // The object that a created one is compared with.
  const value::Document& NewObject() const { return new_object_; }

  // Brings the managedFields of `object`, which is about to replace `live`, up to date. Entries
  // sent with the object are believed, unless it was sent to a subresource; unreadable ones, and an
  // object that cannot be compared, end with none at all, as a write must not fail for this.
  void Update(const value::Document& live, value::Builder& object, std::string_view manager,
              WallTime now) const;
  // The same for an object that is kept.
  value::Document Update(const value::Document& live, const value::Document& object,
                         std::string_view manager, WallTime now) const;

  // `live` with `config` applied. Fails with the Status to answer: 409 with causes for conflicts,
  // 400 for another kind or version or for managedFields in the configuration, 500 for
  // configuration that does not fit the type.
  ApiResult<value::Document> Apply(const value::Document& live, const value::Document& config,
                                   std::string_view manager, bool force, WallTime now) const;

 private:
  ManagedEntry Writer(std::string_view manager, Operation operation) const;
  // Moves ownership for a write that is not an apply.
  Result<void> TrackUpdate(Arena& scratch, const Value& live, const Value& object,
                           ManagedFields& managed, std::string_view manager, WallTime now) const;
  Status LiveFailure(Arena& scratch, const Value& live, std::string_view about_live,
                     const Error& error) const;
  ApiResult<void> CheckKind(const Value& config) const;
  ApiResult<void> CheckConfig(Arena& scratch, const Value& config) const;

  OwnershipOptions options_;
  std::string api_version_;
  value::Document new_object_;
  value::ArenaRef arena_;
  schema::FieldSet never_owned_;
  Updater updater_;
};

// `written` with the managedFields of `live` when nothing else than their times differs, so that a
// write without effect leaves the object as it is.
value::Document KeepTimesIfUnchanged(const value::Document& live, const value::Document& written);

}  // namespace keelson::patch
