#pragma once

// The counts in a workload's status.

#include <span>
#include <string_view>

#include "schema/field_error.h"
#include "value/value.h"

namespace keelson::kube::workload {

// status.<field> may not be greater than status.<limit>.
struct CountLimit {
  std::string_view field;
  std::string_view limit;
  std::string_view text;
};

// None of `counts` may be negative, and none of `limits` passed.
void CheckCounts(const value::Value& status, std::span<const std::string_view> counts,
                 std::span<const CountLimit> limits, schema::FieldErrors& errors);

// status.collisionCount only grows, and does not go away.
void CheckCollisions(const value::Value& status, const value::Value& old,
                     schema::FieldErrors& errors);

}  // namespace keelson::kube::workload
