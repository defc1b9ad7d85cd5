#pragma once

// JSON merge patch (RFC 7386), as kube-apiserver performs it.

#include "base/status.h"
#include "value/document.h"

namespace keelson::patch {

// `object` with `patch` merged in: null deletes, objects are merged, all else replaces. Shares with
// both. Members keep their order, new ones follow. A patch that is no object answers 400.
ApiResult<value::Document> ApplyMergePatch(const value::Document& object,
                                           const value::Document& patch);

// How encoding/json names a value that it cannot put somewhere: object, array, string, number,
// bool.
std::string_view JsonKindText(const value::Value& value);

}  // namespace keelson::patch
