#pragma once

// Conversion of an object between versions of its kind, through the version that is stored (the
// hub).
//
// Built-in kinds convert by the pairs below: autoscaling/v1 through v2, events.k8s.io/v1 through
// core/v1. Whatever else is served in one version only. Custom resources convert by their webhook
// or not at all; whoever calls it implements ObjectConverter, so callers need not know which it is.

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/task.h"
#include "schema/resource.h"
#include "schema/type.h"
#include "value/document.h"

namespace keelson::schema {

class ObjectConverter {
 public:
  virtual ~ObjectConverter() = default;
  // The object in `api_version` ("autoscaling/v1"), itself when it is in that version already.
  virtual Task<Result<value::Document>> Convert(value::Document object,
                                                std::string api_version) = 0;
};

// A pair of versions. The functions take an object of one and return its members in the other,
// in no particular order; apiVersion is left to the caller.
struct ConversionPair {
  GroupVersionKind spoke;
  GroupVersionKind hub;
  value::Value (*to_hub)(const value::Value& object, value::Arena& arena);
  value::Value (*to_spoke)(const value::Value& object, value::Arena& arena);
};

std::span<const ConversionPair> BuiltInConversions();

// Converts by a table of pairs; the result is in canonical form. Fails with kUnsupported when there
// is no way between the two versions.
class TableConverter final : public ObjectConverter {
 public:
  // Both must outlive the converter.
  TableConverter(const Catalog& catalog, std::span<const ConversionPair> pairs)
      : catalog_(catalog), pairs_(pairs) {}

  Task<Result<value::Document>> Convert(value::Document object, std::string api_version) override;
  // The same, for callers that cannot wait.
  Result<value::Document> ConvertNow(const value::Document& object,
                                     std::string_view api_version) const;

 private:
  const Catalog& catalog_;
  std::span<const ConversionPair> pairs_;
};

// autoscaling v1 and v2, in convert_autoscaling.cc.
value::Value AutoscalerToV2(const value::Value& object, value::Arena& arena);
value::Value AutoscalerToV1(const value::Value& object, value::Arena& arena);

}  // namespace keelson::schema
