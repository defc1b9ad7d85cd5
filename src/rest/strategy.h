#pragma once

// Strategy: what is special about one kind when it is written.
//
// The verbs do everything that all kinds share: decoding, schema defaults, metadata, managed
// fields, schema validation, storing. A strategy adds what only this kind needs. It is immutable,
// shared by all requests and versions of the kind, and never waits: what needs other objects
// (quotas, addresses, namespaces that must exist) is admission's business.
//
// Objects are edited in place through value::Ref; the verbs restore the canonical form afterwards.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/names.h"
#include "schema/field_error.h"
#include "value/document.h"
#include "value/value.h"

namespace keelson::rest {

// What a strategy may know about the request.
struct WriteScope {
  std::string_view ns;
  std::string_view name;
  std::string_view subresource;
  bool dry_run = false;
  WallTime now{};
};

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

  // Defaults that depend on other fields; the schema's own are in place already.
  virtual void Default(value::Ref object) const {}

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

  // Whether a delete answers with the object that is gone instead of a Status.
  virtual bool ReturnsDeletedObject() const { return false; }
  // The grace a deletion gets, in seconds, given what was asked for; nothing when the kind is
  // deleted at once.
  virtual std::optional<int64_t> DeletionGrace(const value::Value& object,
                                               std::optional<int64_t> asked) const {
    return std::nullopt;
  }
};

}  // namespace keelson::rest
