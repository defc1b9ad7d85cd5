#pragma once

// `keelson store snapshot | restore | verify | compact | stats`, apart from main.

#include <span>
#include <string_view>

#include "kv/rocksdb/operations.h"

namespace keelson::kv {

// Where in a server's data folder its store is.
inline constexpr std::string_view kStoreFolder = "/store";

// `arguments` are those after "store". `check` looks at each value for verify; may be empty. Facts
// go to standard output, progress (a bar on a terminal, lines otherwise) and errors to standard
// error. Returns the process's exit code: 0, 1 when it failed or found problems, 2 for a wrong
// command line.
int RunStoreCommand(std::span<const std::string_view> arguments, const CheckValue& check);

}  // namespace keelson::kv
