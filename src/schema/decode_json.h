#pragma once

// JSON to a typed tree in canonical form, in one pass over the text.
//
// Unknown fields are dropped; in strict mode they, and fields that appear twice, are also reported.
// Names match case by case. Errors are upstream's sentences:
//
//   json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool
//   unknown field "spec.template.spec.containers[0].imagePullpolicy"
//
// Custom resources are read without a schema (value/json.h) and pruned afterwards.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/type.h"
#include "value/document.h"

namespace keelson::schema {

struct Decoded {
  value::Document object;
  // In the order upstream reports them, at most 100. Empty unless decoding was strict.
  std::vector<std::string> strict_errors;
};

struct DecodeOptions {
  bool strict = false;
};

// `type` is a struct. `text` is copied once; the tree's strings point into the copy.
Result<Decoded> DecodeJson(const Type& type, std::string_view text,
                           const DecodeOptions& options = {});

// The apiVersion and kind of a JSON object, without decoding the rest. The syntax of all of it is
// checked. The error is what upstream puts behind "couldn't get version/kind; json parse error: ".
struct TypeMeta {
  std::string api_version;
  std::string kind;
};
Result<TypeMeta> ReadTypeMeta(std::string_view text);

// The Go type as upstream's errors spell it: int32, []v1.Container, map[string]string.
std::string GoTypeName(const Type& type);

// Checks base64 as Go's decoder does and returns the bytes.
Result<std::string> DecodeBase64(std::string_view text);
std::string EncodeBase64(std::string_view bytes);

}  // namespace keelson::schema
