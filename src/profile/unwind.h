#pragma once

// Walking a stack along its frame pointers. Async-signal-safe: no allocation, no lock, and memory
// is tested before it is read, because code without frame pointers leaves anything in RBP.

#include <cstddef>
#include <cstdint>
#include <span>

namespace keelson::profile {

inline constexpr size_t kMaxDepth = 64;

// Stores return addresses from the innermost frame outwards, beginning with the one found in
// `frame`, and returns how many. `stack_pointer` bounds the walk from below.
size_t Unwind(uintptr_t frame, uintptr_t stack_pointer, std::span<uintptr_t> out);

// The whole stack of a thread stopped at `pc` by a signal: `pc` itself, then as Unwind. Where `pc`
// is in a library, which may keep no frame pointer, the function that called into it would be
// missing; its return address is then looked for among the words next to the stack pointer.
size_t UnwindInterrupted(uintptr_t pc, uintptr_t frame, uintptr_t stack_pointer,
                         std::span<uintptr_t> out);

// The caller's own stack without the caller itself.
size_t UnwindHere(std::span<uintptr_t> out);

}  // namespace keelson::profile
