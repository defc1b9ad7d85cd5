#pragma once

// Conflicts of an apply: fields it would change that other writers own.

#include <string>
#include <vector>

#include "base/status.h"
#include "patch/managed_fields.h"
#include "schema/field_set.h"

namespace keelson::patch {

// The fields of one other writer that the apply would change.
struct Conflict {
  ManagedEntry writer;
  schema::FieldSet fields;
};

// In order of the writers' identifiers.
using Conflicts = std::vector<Conflict>;

// 409 with upstream's message, and a cause for each field.
Status ApplyConflictStatus(const Conflicts& conflicts);

}  // namespace keelson::patch
