#pragma once

// CRC-32C (Castagnoli), as in RocksDB's WAL and in snapshots. Uses the processor's instruction
// where there is one.

#include <cstdint>
#include <string_view>

namespace keelson::kv {

// Continues `crc`, the result for the bytes before; 0 to begin.
uint32_t Crc32c(uint32_t crc, std::string_view bytes);

}  // namespace keelson::kv
