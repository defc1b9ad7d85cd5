#pragma once

// Work of milliseconds to seconds, done on a thread of its own while a coroutine waits.

#include <functional>
#include <string>

#include "base/result.h"
#include "base/task.h"

namespace keelson::profile {

Task<Result<std::string>> RunAside(std::move_only_function<Result<std::string>()> work);

}  // namespace keelson::profile
