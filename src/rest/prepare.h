#pragma once

// From what a client sent to what may be stored: the steps every create and every update takes
// between decoding and the store, as pure functions.
//
//   defaults → metadata → strategy prepares → canonical form → validation
//
// Failures are the Status to answer with.

#include <string_view>

#include "base/status.h"
#include "rest/resource.h"
#include "rest/strategy.h"
#include "value/document.h"

namespace keelson::rest {

// A new object, ready to be stored: named, stamped, valid. `object` is decoded and defaulted.
ApiResult<value::Document> PrepareCreate(const ResourceSpec& spec, const WriteScope& scope,
                                         const value::Document& object);

// A change of `old`. The result carries old's identity, and no resourceVersion; a version that the
// client named has been compared.
ApiResult<value::Document> PrepareUpdate(const ResourceSpec& spec, const WriteScope& scope,
                                         const value::Document& object, const value::Document& old);

// 409, as upstream words a lost race.
Status ModifiedStatus(const ResourceSpec& spec, std::string_view name);

}  // namespace keelson::rest
