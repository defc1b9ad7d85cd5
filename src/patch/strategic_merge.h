#pragma once

// Strategic merge patch: a merge patch that knows from the type which lists are joined by key, and
// obeys directives in the patch ($patch, $retainKeys, $setElementOrder/..,
// $deleteFromPrimitiveList/..).

#include "base/status.h"
#include "schema/type.h"
#include "value/document.h"

namespace keelson::patch {

// `object`, of the type, with `patch` merged in. Shares with both. Members keep their order, new
// ones follow. Fails with the Status to answer; `patch` null changes nothing. Directives that do
// not apply where they stand remain as fields, for the decoder to refuse.
ApiResult<value::Document> ApplyStrategicMergePatch(const value::Document& object,
                                                    const value::Document& patch,
                                                    const schema::Type& type);

// The answer for custom resources, which have no patch strategies: 400.
Status StrategicMergeUnsupportedStatus();

}  // namespace keelson::patch
