#pragma once

// FieldFilter: which fields of an object an endpoint lets its callers own.
//
// The main resource does not take status from anybody, the status subresource nothing else; what a
// strategy resets must not be claimed either. A filter leaves such fields out, or lets only a few
// patterns through (a pod's resize).

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "schema/field_set.h"
#include "value/arena.h"

namespace keelson::patch {

class FieldFilter {
 public:
  // A path of field names; "*" stands for any one step.
  using Pattern = std::vector<std::string>;

  // Lets everything through.
  FieldFilter() = default;
  // Leaves out these paths and all below them. `excluded` must outlive the filter.
  static FieldFilter Exclude(schema::FieldSet excluded);
  // Lets through only paths on the way to or below one of the patterns.
  static FieldFilter Include(std::vector<Pattern> patterns);

  schema::FieldSet Apply(value::Arena& arena, schema::FieldSet set) const;

 private:
  schema::FieldSet excluded_;
  std::vector<Pattern> included_;
};

}  // namespace keelson::patch
