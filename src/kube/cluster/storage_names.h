#pragma once

// Names that storage kinds share. Internal.

#include <string>
#include <string_view>

#include "schema/field_error.h"
#include "value/path.h"

namespace keelson::kube::cluster {

std::string LowerCase(std::string_view text);

// A driver's name: a DNS name whose case does not matter.
void CheckCsiDriverName(std::string_view name, const value::Path& path,
                        schema::FieldErrors& errors);

}  // namespace keelson::kube::cluster
