#pragma once

// Profiles of the running process in pprof's form (gzip'd profile.proto), symbolized, so that
// `go tool pprof` and every viewer built on it read them with or without the binary.
//
// CPU time is sampled 100 times per second of each thread's own CPU clock; heap use by a Poisson
// process over allocated bytes (heap.h). Stacks are walked along frame pointers, which all of this
// program keeps; frames of C libraries built without them may be missing.
//
// Reading symbol tables takes tens of milliseconds, so the work is done on a thread of its own and
// the caller resumes on its executor. Callable from any thread.

#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"

namespace keelson::profile {

// Samples for `duration`, or until `stop` is requested, then returns what was seen. One at a time:
// kConflict, in upstream's words, while another runs.
Task<Result<std::string>> CpuProfile(Duration duration, std::stop_token stop = {});

enum class HeapView {
  kInUse,      // /debug/pprof/heap: opens on inuse_space
  kAllocated,  // /debug/pprof/allocs: opens on alloc_space
};
// kUnsupported in programs linked without heap sampling.
Task<Result<std::string>> HeapProfile(HeapView view);

// Where every thread is right now: one sample per distinct stack. kConflict during a CpuProfile.
Task<Result<std::string>> ThreadProfile();
// The same for reading: id, name, CPU time and stack of each thread.
Task<Result<std::string>> ThreadList();

// The program's arguments, separated by NUL.
Result<std::string> CommandLine();

// The answer of /debug/pprof/symbol. An empty question asks whether there are symbols at all;
// else each address of "0x1+0x2+..." is answered by a line "0x1 <function>".
Task<Result<std::string>> Symbol(std::string addresses);

// Execution traces show Go's scheduler, which is not here: always kUnsupported.
Result<std::string> Trace();

}  // namespace keelson::profile
