#pragma once

// What is mapped into this process, and which function an address belongs to.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace keelson::profile {

// One executable mapping of /proc/self/maps.
struct Mapping {
  uint64_t start = 0;
  uint64_t limit = 0;
  uint64_t offset = 0;   // into the file
  std::string file;      // empty for anonymous memory
  std::string build_id;  // hex; empty when the file has none
};

struct FunctionName {
  std::string mangled;   // or "0x..." when unknown
  std::string readable;  // demangled
};

// A snapshot. Symbol tables are read on first use of a mapping and freed with the object. Holds
// no lock: one thread at a time.
class AddressSpace {
 public:
  static Result<AddressSpace> Read();
  // From the text of a maps file; for tests.
  static AddressSpace Parse(std::string_view maps);
  AddressSpace(AddressSpace&&) noexcept;
  AddressSpace& operator=(AddressSpace&&) noexcept;
  ~AddressSpace();

  const std::vector<Mapping>& mappings() const { return mappings_; }
  std::optional<size_t> MappingOf(uint64_t address) const;
  FunctionName FunctionAt(uint64_t address) const;

 private:
  class Symbols;
  AddressSpace();

  std::vector<Mapping> mappings_;
  mutable std::vector<std::unique_ptr<Symbols>> symbols_;
};

// "std::vector<int>::push_back(int&&)" without parameters: "std::vector<int>::push_back".
std::string StripParameters(std::string_view demangled);

}  // namespace keelson::profile
