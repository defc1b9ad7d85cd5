#pragma once

// Telling the service manager that we are up (sd_notify(3)).

#include <string_view>

#include "base/result.h"

namespace keelson::server {

// Sends `state` ("READY=1\n") to $NOTIFY_SOCKET; without one, nothing. The variable is then unset,
// so that children do not report in our name.
Result<void> NotifySystemd(std::string_view state);

}  // namespace keelson::server
