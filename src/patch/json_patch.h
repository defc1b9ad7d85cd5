#pragma once

// JSON patch (RFC 6902), as kube-apiserver performs it.
//
// Deviations of upstream's library that clients may rely on are kept: replacing a missing member
// adds it, negative indices count from the end, text before a path's first slash is ignored, a
// missing value is null, copying a missing member copies null.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "value/document.h"

namespace keelson::patch {

inline constexpr size_t kMaxJsonPatchOperations = 10000;
// Bytes of JSON that the copy operations of one patch may add.
inline constexpr size_t kMaxJsonPatchCopyBytes = 3 * 1024 * 1024;

struct JsonPatchOperation {
  enum class Kind : uint8_t { kAdd, kRemove, kReplace, kMove, kTest, kCopy, kUnknown };
  Kind kind = Kind::kUnknown;
  bool has_path = false;
  bool has_from = false;
  std::string_view path;
  std::string_view from;
  value::Value value;
};

// A decoded patch; borrows from the document it was decoded from.
struct JsonPatch {
  std::vector<JsonPatchOperation> operations;
  // What strict field validation objects to: `json patch unknown field "[0].extra"`.
  std::vector<std::string> strict_errors;
};

// 400 when the document is no list of operations, 413 when there are too many. Null is no
// operation.
ApiResult<JsonPatch> DecodeJsonPatch(const value::Document& patch);

// 422 when an operation does not apply; then nothing has been changed.
ApiResult<value::Document> ApplyJsonPatch(const value::Document& object, const JsonPatch& patch,
                                          const value::Document& patch_document);

}  // namespace keelson::patch
