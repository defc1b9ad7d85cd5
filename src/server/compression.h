#pragma once

// Whole bodies, compressed and restored.

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/exchange.h"

namespace keelson::server {

// Whether the client names gzip in Accept-Encoding and does not rule it out.
bool AcceptsGzip(const http::Request& request);

// 1 is fast, 9 is small.
std::string Gzip(std::string_view bytes, int level);

// What Gzip made of `size` bytes. Fails when it is something else.
Result<std::string> Gunzip(std::string_view bytes, size_t size);

}  // namespace keelson::server
