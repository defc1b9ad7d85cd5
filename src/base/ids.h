#pragma once

// Random identifiers, drawn from the kernel's generator through a per-thread buffer.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace keelson {

// Fills `out` with random bytes fit for keys and tokens.
void RandomBytes(std::span<unsigned char> out);
uint64_t RandomUint64();
// Uniform in [0, bound).
uint64_t RandomBelow(uint64_t bound);

// A version 4 UUID in its usual lower-case form.
std::string NewUuid();

// `length` characters of the alphabet that upstream uses for generated names: no vowels, none
// that look alike.
std::string RandomNameSuffix(size_t length);

}  // namespace keelson
