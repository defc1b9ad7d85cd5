#pragma once

// From what a client sent to what may be stored: the steps every create and every update takes
// between admission and the store, as pure functions over a builder.
//
//   begin:   metadata gets its identity, so that reservations can name the object
//   finish:  spec and status apart → the strategy prepares → canonical form → validation
//
// Failures are the Status to answer with.

#include <string_view>

#include "base/status.h"
#include "rest/resource.h"
#include "rest/strategy.h"
#include "value/document.h"

namespace keelson::rest {

// Removes what a creator may not set and puts the object into the request's namespace.
ApiResult<void> EnterNamespace(const ResourceSpec& spec, const WriteScope& scope,
                               value::Ref metadata);

// A new object gets its uid, its time and its name.
void BeginCreate(const WriteScope& scope, value::Builder& object);
ApiResult<value::Document> FinishCreate(const ResourceSpec& spec, const WriteScope& scope,
                                        value::Builder& object);

// A change of `old`, whose version is compared when the client named one.
ApiResult<void> BeginUpdate(const ResourceSpec& spec, const WriteScope& scope,
                            value::Builder& object, const value::Document& old);
// The result carries old's identity and version.
ApiResult<value::Document> FinishUpdate(const ResourceSpec& spec, const WriteScope& scope,
                                        value::Builder& object, const value::Document& old);

// Makes a field of `object` what it is in `old`, which the builder has adopted.
void Restore(value::Ref object, std::string_view field, const value::Value& old);

// 409, as upstream words a lost race.
Status ModifiedStatus(const ResourceSpec& spec, std::string_view name);

}  // namespace keelson::rest
