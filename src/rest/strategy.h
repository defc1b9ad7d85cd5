#pragma once

// Strategy: what is special about one kind when it is written.
//
// The verbs do everything that all kinds share: decoding, schema defaults, metadata, managed
// fields, the separation of spec and status, storing. A strategy adds what only this kind needs. It
// is immutable and shared by all requests and versions of the kind. It never waits, except in
// Reserve; what needs other objects (quotas, namespaces that must exist) is admission's business.
//
// Objects are edited in place through value::Ref; the verbs restore the canonical form afterwards.
//
// A subresource that shows the object itself under other rules (status, a pod's resize, approval)
// is a Strategy of its own.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "auth/user.h"
#include "base/clock.h"
#include "base/names.h"
#include "base/status.h"
#include "base/task.h"
#include "schema/field_error.h"
#include "value/document.h"
#include "value/value.h"

namespace keelson::rest {

using WarningSink = admission::Warner;

// A write, as the code that performs it knows it. Whoever writes without a request of its own
// (bootstrap, controllers, one kind's handler on behalf of another) fills it in. Everything
// outlives the write.
struct WriteScope {
  std::string_view ns;
  std::string_view name;
  std::string_view subresource;
  bool dry_run = false;
  bool allow_privileged = true;  // whether containers may ask for all there is on their node
  WallTime now{};
  const auth::User* user = nullptr;  // null for the server itself
  std::string_view manager;          // owner of the written fields in managedFields
  WarningSink* warnings = nullptr;   // null: nobody to be warned

  void Warn(std::string_view text) const {
    if (warnings != nullptr) warnings->Warn(text);
  }
};

// Something outside the object that a write has taken (addresses, ports). Destroyed without Commit,
// it has been given back; so it is when the write is refused or loses a race.
class Reservation {
 public:
  virtual ~Reservation() = default;
  // The object has been stored.
  virtual void Commit() = 0;
};
using ReservationPtr = std::unique_ptr<Reservation>;

// What becomes of an object's dependents when a delete does not say.
enum class GarbageCollection : uint8_t { kBackground, kOrphan, kUnsupported };

class Strategy {
 public:
  virtual ~Strategy() = default;

  // How metadata.name is checked.
  virtual names::NameCheck name_check() const { return names::NameIsDnsSubdomain; }
  // Whether PUT creates what is not there.
  virtual bool AllowsCreateOnUpdate() const { return false; }
  // Whether an update may leave out resourceVersion.
  virtual bool AllowsUnconditionalUpdate() const { return true; }
  // Whether metadata.generation counts the changes of everything but metadata and status.
  virtual bool CountsGeneration() const { return false; }

  // Whether a creator may set status. Otherwise only the status subresource does, where there is
  // one; the verbs keep it from all other writes.
  virtual bool KeepsStatusOnCreate() const { return false; }
  // How long a stored object lives; 0 is for ever.
  virtual std::chrono::seconds TimeToLive() const { return {}; }
  // Paths that PrepareFor... takes away from the writer, besides status, so that nobody can own
  // them: "metadata.labels", "spec".
  virtual std::span<const std::string_view> ResetFields() const { return {}; }

  // Takes what the write needs from outside and puts it into `object`, before PrepareFor...; `old`
  // is null on create. Must honour scope.dry_run. Null when there is nothing to take.
  virtual bool Reserves() const { return false; }
  virtual Task<ApiResult<ReservationPtr>> Reserve(const WriteScope& scope, value::Ref object,
                                                  const value::Value* old) const {
    co_return ReservationPtr();
  }

  // Clears what a creator may not set, fills what the server sets.
  virtual void PrepareForCreate(const WriteScope& scope, value::Ref object) const {}
  // The same for a change; `old` is what is stored, and its parts may be put into `object`.
  virtual void PrepareForUpdate(const WriteScope& scope, value::Ref object,
                                const value::Value& old) const {}

  // Beyond what the schema says. Metadata is checked by the verbs.
  virtual void Validate(const WriteScope& scope, const value::Value& object,
                        schema::FieldErrors& errors) const {}
  virtual void ValidateUpdate(const WriteScope& scope, const value::Value& object,
                              const value::Value& old, schema::FieldErrors& errors) const {}

  // Sentences for Warning headers. `old` is null on create.
  virtual std::vector<std::string> Warnings(const WriteScope& scope, const value::Value& object,
                                            const value::Value* old) const {
    return {};
  }

  virtual GarbageCollection DefaultGarbageCollection() const {
    return GarbageCollection::kBackground;
  }
  // What a delete changes in an object that stays for now, besides its metadata.
  virtual void PrepareForDelete(const WriteScope& scope, value::Ref object) const {}
  // Whether the object stays, marked, although no finalizer of its metadata holds it.
  virtual bool AwaitsFinalization(const value::Value& object) const { return false; }
  // The object is gone: gives back what it held. The answer waits for it; `object` outlives it.
  virtual Task<void> AfterDelete(const value::Value& object) const { co_return; }
  // The grace a deletion gets, in seconds, given what was asked for; nothing when the kind is
  // deleted at once.
  virtual std::optional<int64_t> DeletionGrace(const value::Value& object,
                                               std::optional<int64_t> asked) const {
    return std::nullopt;
  }
};

}  // namespace keelson::rest
