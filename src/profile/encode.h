#pragma once

// The pprof wire form (profile.proto), written by hand: some twenty fields, all varints and
// strings, need no library.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/symbols.h"

namespace keelson::profile {

struct ValueType {
  std::string_view type;  // "inuse_space"
  std::string_view unit;  // "bytes"
};

// Collects samples, then symbolizes and encodes them. Not thread-safe.
class Encoder {
 public:
  explicit Encoder(std::vector<ValueType> sample_types);

  // `stack` innermost first. Only the innermost address may be an instruction that was about to
  // run (`leaf_is_exact`); all others are return addresses. A `block_bytes` above zero becomes
  // the numeric label "bytes".
  void AddSample(std::span<const uintptr_t> stack, bool leaf_is_exact,
                 std::span<const int64_t> values, int64_t block_bytes = 0);
  void SetPeriod(ValueType type, int64_t period);
  void SetTimes(int64_t start_nanoseconds, int64_t duration_nanoseconds);
  void SetDefaultSampleType(std::string_view type);

  // gzip'd profile.proto. Call once.
  std::string Finish(const AddressSpace& space);

 private:
  uint64_t String(std::string_view text);
  uint64_t Location(uintptr_t address);
  std::string Type(ValueType type);
  void WriteLocations(const AddressSpace& space);

  std::string out_;
  std::map<std::string, uint64_t, std::less<>> strings_;
  std::vector<std::string> string_order_;
  std::map<uintptr_t, uint64_t> locations_;
};

}  // namespace keelson::profile
