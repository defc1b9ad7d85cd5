#pragma once

// What a delete does to an object: nothing remains, or it is marked and waits for its finalizers
// and its grace. A pure decision on the stored state.

#include "base/status.h"
#include "rest/options.h"
#include "rest/resource.h"
#include "rest/strategy.h"
#include "value/document.h"

namespace keelson::rest {

struct DeletionDecision {
  enum class Kind : uint8_t {
    kRemove,  // gone at once
    kMark,    // `object` is to be stored: deletionTimestamp, grace, finalizers
    kLast,    // the same, and then it goes: nothing of its grace is left
    kKeep,    // already as it should be
  };
  Kind kind = Kind::kRemove;
  value::Document object;  // for kMark and kLast
};

// Fails with 409 when a precondition does not hold.
ApiResult<DeletionDecision> DecideDeletion(const ResourceSpec& spec, const WriteScope& scope,
                                           const DeleteOptions& options,
                                           const value::Document& stored);

// The answer to a delete that left nothing: Success, with what it was.
Status DeletedStatus(const ResourceSpec& spec, std::string_view name, std::string_view uid);

}  // namespace keelson::rest
