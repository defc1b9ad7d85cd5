#include "profile/sampler.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace keelson::profile {
namespace {

constexpr size_t kSlots = 1024;  // half a megabyte; five seconds of one busy thread undrained

// The ring of the profile in progress. The handler counts itself in before it looks, so that the
// owner can wait until nobody can be inside.
std::atomic<bool> taken{false};
std::atomic<SampleRing*> active_ring{nullptr};
std::atomic<int> inside{0};

struct Registers {
  uintptr_t pc, frame, stack;
};

Registers Interrupted(const ucontext_t* context) {
#if defined(__x86_64__)
  const auto& registers = context->uc_mcontext.gregs;
  return {static_cast<uintptr_t>(registers[REG_RIP]), static_cast<uintptr_t>(registers[REG_RBP]),
          static_cast<uintptr_t>(registers[REG_RSP])};
#elif defined(__aarch64__)
  const auto& machine = context->uc_mcontext;
  return {machine.pc, machine.regs[29], machine.sp};
#else
#error "profile: frame pointers of this architecture are not known here"
#endif
}

void OnSignal(int, siginfo_t* info, void* raw) {
  int saved = errno;
  inside.fetch_add(1, std::memory_order_seq_cst);
  if (SampleRing* ring = active_ring.load(std::memory_order_seq_cst)) {
    auto at = Interrupted(static_cast<const ucontext_t*>(raw));
    // A thread that slept through expirations of its timer stands for all of them.
    uint32_t weight = info->si_code == SI_TIMER ? 1 + static_cast<uint32_t>(info->si_overrun) : 1;
    ring->Push([&](StackSample& sample) {
      sample.thread = static_cast<pid_t>(::syscall(SYS_gettid));
      sample.weight = weight;
      sample.depth =
          static_cast<uint32_t>(UnwindInterrupted(at.pc, at.frame, at.stack, sample.pcs));
    });
  }
  inside.fetch_sub(1, std::memory_order_release);
  errno = saved;
}

// Installed once and left in place: a late SIGPROF must find a handler, or it ends the process.
void InstallHandler() {
  static const bool installed = [] {
    struct sigaction action{};
    action.sa_sigaction = OnSignal;
    action.sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK;
    ::sigfillset(&action.sa_mask);
    return ::sigaction(SIGPROF, &action, nullptr) == 0;
  }();
  KEELSON_CHECK(installed);
}

}  // namespace

SampleRing::SampleRing(size_t slots) : slots_(std::make_unique<Slot[]>(slots)), mask_(slots - 1) {
  KEELSON_CHECK((slots & mask_) == 0);
  for (size_t i = 0; i < slots; ++i) slots_[i].sequence.store(i, std::memory_order_relaxed);
}

size_t SampleRing::Drain(const std::function<void(const StackSample&)>& visit) {
  size_t count = 0;
  for (;; ++count, ++tail_) {
    Slot& slot = slots_[tail_ & mask_];
    if (slot.sequence.load(std::memory_order_acquire) != tail_ + 1) return count;
    visit(slot.sample);
    slot.sequence.store(tail_ + mask_ + 1, std::memory_order_release);
  }
}

std::optional<SignalSampler> SignalSampler::Acquire() {
  if (taken.exchange(true)) return {};
  InstallHandler();
  active_ring.store(new SampleRing(kSlots), std::memory_order_seq_cst);
  return SignalSampler();
}

SignalSampler::~SignalSampler() {
  if (!owner_) return;
  std::unique_ptr<SampleRing> ring(active_ring.exchange(nullptr, std::memory_order_seq_cst));
  while (inside.load(std::memory_order_seq_cst) != 0) ::usleep(100);
  ring.reset();
  taken.store(false);
}

SampleRing& SignalSampler::ring() const { return *active_ring.load(std::memory_order_relaxed); }

std::vector<pid_t> Threads() {
  std::vector<pid_t> threads;
  DIR* folder = ::opendir("/proc/self/task");
  if (folder == nullptr) return threads;
  while (const dirent* entry = ::readdir(folder)) {
    pid_t id = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, id).ptr == end && id > 0) threads.push_back(id);
  }
  ::closedir(folder);
  return threads;
}

}  // namespace keelson::profile
