#pragma once

// The code of all built-in kinds, put together from the folders that know them.

#include "rest/kind_table.h"

namespace keelson::kube {

rest::KindTable BuiltInKinds();

}  // namespace keelson::kube
