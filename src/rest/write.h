#pragma once

// Writing objects, without HTTP: what the verbs, bootstrap, controllers and subresource handlers
// share. All writes go this way, so owners, admission, strategies and races are treated in one
// place.
//
//   create:  owners → changing plugins → reserve → prepare → validate → judging plugins → store
//   change:  the same, begun by a Mutation, decided inside the store's compare-and-swap loop and so
//            as often as that asks
//
// The specs, scopes and mutations passed in outlive the task returned.

#include <string>

#include "base/bytes.h"
#include "base/status.h"
#include "base/task.h"
#include "rest/resource.h"
#include "rest/strategy.h"
#include "storage/object_store.h"
#include "value/document.h"

namespace keelson::rest {

struct Written {
  Slice json;  // as stored; for a dry run, as it would be
  bool created = false;
};

// Stores a new object, which is decoded and defaulted. Names it when it asks for that, trying again
// when the name is taken.
Task<ApiResult<Written>> CreateObject(const ResourceSpec& spec, const WriteScope& scope,
                                      value::Document object);

// What a writer makes of an object: a replacement, a patch, an edit.
class Mutation {
 public:
  virtual ~Mutation() = default;
  // The new object, decoded and defaulted, as the endpoint shows it. `live` is what there is; null
  // when there is nothing and the write may create. It must not remember.
  virtual ApiResult<value::Document> Mutate(const value::Document* live) = 0;
  // Whether Mutate has brought managedFields up to date itself.
  virtual bool tracks_owners() const { return false; }
};

struct ChangeRules {
  storage::Preconditions preconditions;
  bool may_create = false;
  // Who asks, when creating needs a permission of its own.
  auth::UserPtr creator;
};

Task<ApiResult<Written>> ChangeObject(const ResourceSpec& spec, const WriteScope& scope,
                                      Mutation& mutation, ChangeRules rules = {});

struct Deleted {
  Slice json;  // the object's last state, or the state it waits in
  std::string uid;
  bool removed = false;  // nothing is left
};

Task<ApiResult<Deleted>> DeleteObject(const ResourceSpec& spec, const WriteScope& scope,
                                      const DeleteOptions& options);

// --- parts, for the verbs

// The stored object as a tree.
Result<value::Document> DecodeStored(const ResourceSpec& spec, const storage::CachedObject& stored);
// What is stored of a tree: everything but its version.
storage::ObjectImage ImageOf(const ResourceSpec& spec, const value::Document& object);
// The endpoint's owner-keeping.
std::shared_ptr<const patch::Ownership> MakeOwnership(const ResourceSpec& spec);
// Drops repeated owner references and warns of them.
void DropRepeatedOwners(const WriteScope& scope, value::Builder& object, bool after_admission);
// Lets the plugins that change objects change this one.
Task<ApiResult<void>> AdmitChange(const ResourceSpec& spec, const WriteScope& scope,
                                  value::Builder& object, const value::Document* old);
// Asks the plugins that judge.
Task<ApiResult<void>> AdmitResult(const ResourceSpec& spec, const WriteScope& scope,
                                  const value::Document* object, const value::Document* old);

}  // namespace keelson::rest
