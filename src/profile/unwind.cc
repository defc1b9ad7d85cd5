// A frame made by `push rbp; mov rbp, rsp` on x86-64 (arm64 lays out the same pair):
//
//   [rbp + 8]  return address
//   [rbp]      the caller's rbp, always higher up
//
// The walk ends at the first pair that is unaligned, not above the last one, further away than
// any sane frame, or not readable.

#include "profile/unwind.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

// The text of this program, laid out by the linker.
extern "C" const char __executable_start __attribute__((visibility("hidden"), weak));
extern "C" const char etext __attribute__((visibility("hidden"), weak));

namespace keelson::profile {
namespace {

constexpr uintptr_t kMaxFrame = 1 << 20;
constexpr uintptr_t kPage = 4096;

// Asks the kernel, which answers EFAULT instead of a signal: a signal-mask call with an impossible
// `how` reads its argument first and then fails, whatever is there.
bool Readable(uintptr_t address) {
  int saved = errno;
  syscall(SYS_rt_sigprocmask, ~0, address & ~uintptr_t{7}, nullptr, 8);
  bool readable = errno != EFAULT;
  errno = saved;
  return readable;
}

bool InProgram(uintptr_t address) {
  return address >= reinterpret_cast<uintptr_t>(&__executable_start) &&
         address < reinterpret_cast<uintptr_t>(&etext);
}

// Whether the instruction before `address`, in this program's text, is a call.
__attribute__((no_sanitize("address", "thread", "undefined"))) bool FollowsCall(uintptr_t address) {
#if defined(__x86_64__)
  const auto* code = reinterpret_cast<const unsigned char*>(address);
  auto indirect = [](unsigned char opcode, unsigned char modrm) {
    return opcode == 0xff && (modrm >> 3 & 7) == 2;
  };
  return code[-5] == 0xe8 || indirect(code[-2], code[-1]) || indirect(code[-3], code[-2]) ||
         indirect(code[-6], code[-5]);
#else
  (void)address;
  return true;
#endif
}

// Leaf functions of the C library mostly push few registers before they work.
constexpr size_t kWordsToSearch = 16;

__attribute__((no_sanitize("address", "thread", "undefined"))) uintptr_t
FindCaller(uintptr_t frame, uintptr_t stack_pointer) {
  uintptr_t end = stack_pointer + kWordsToSearch * sizeof(uintptr_t);
  if (frame >= stack_pointer && frame < end) end = frame;  // beyond is found by the walk
  for (uintptr_t at = stack_pointer & ~uintptr_t{7}; at < end; at += sizeof(uintptr_t)) {
    if ((at == stack_pointer || at % kPage == 0) && !Readable(at)) return 0;
    auto word = *reinterpret_cast<const uintptr_t*>(at);
    if (InProgram(word) && FollowsCall(word)) return word;
  }
  return 0;
}

}  // namespace

size_t UnwindInterrupted(uintptr_t pc, uintptr_t frame, uintptr_t stack_pointer,
                         std::span<uintptr_t> out) {
  size_t depth = 0;
  out[depth++] = pc;
  uintptr_t caller = InProgram(pc) ? 0 : FindCaller(frame, stack_pointer);
  if (caller != 0) out[depth++] = caller;
  return depth + Unwind(frame, stack_pointer, out.subspan(depth));
}

__attribute__((no_sanitize("address", "thread", "undefined"))) size_t
Unwind(uintptr_t frame, uintptr_t stack_pointer, std::span<uintptr_t> out) {
  size_t depth = 0;
  uintptr_t floor = stack_pointer;
  uintptr_t known_page = ~uintptr_t{0};
  while (depth < out.size()) {
    if (frame < floor || frame - floor > kMaxFrame || frame % sizeof(uintptr_t) != 0) break;
    // The pair may straddle two pages; its upper word decides for the second.
    for (uintptr_t word : {frame, frame + sizeof(uintptr_t)}) {
      if (word / kPage == known_page) continue;
      if (!Readable(word)) return depth;
      known_page = word / kPage;
    }
    const auto* pair = reinterpret_cast<const uintptr_t*>(frame);
    uintptr_t return_address = pair[1];
    if (return_address < kPage) break;
    out[depth++] = return_address;
    floor = frame + 2 * sizeof(uintptr_t);
    frame = pair[0];
  }
  return depth;
}

__attribute__((noinline)) size_t UnwindHere(std::span<uintptr_t> out) {
  auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  uintptr_t stack[kMaxDepth + 1];
  size_t depth = Unwind(frame, frame, stack);
  size_t kept = 0;
  for (size_t i = 1; i < depth && kept < out.size(); ++i) out[kept++] = stack[i];
  return kept;
}

}  // namespace keelson::profile
