#pragma once

// How plugins say no.

#include <expected>
#include <string_view>

#include "admission/admission.h"
#include "base/status.h"

namespace keelson::admission {

// 403: `pods "a" is forbidden: why`
std::unexpected<Status> Forbid(const Request& request, std::string_view why);

}  // namespace keelson::admission
