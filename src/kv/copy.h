#pragma once

// Everything that stands in one store, written into another one.
//
// Revisions never go back for those who move with it: the target's revision is raised past the
// source's before the first key is written, so every key gets a newer one than it had. Keys that
// hang on leases get leases of the same remaining time. A copy that was cut short goes on where it
// ended when it is made again; a mark in the target tells that it was one. In the end all keys are
// read again from both and compared.
//
// Nobody else may write to either meanwhile: the source is read as of one revision, and a change of
// it is noticed at the end.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/task.h"
#include "kv/store.h"

namespace keelson::kv {

struct CopyOptions {
  // What to write for a value of the source; must give the same each time. Empty: the same.
  std::function<Result<Slice>(std::string_view key, const Slice& value)> convert;
  // May be called from any thread, one call at a time. `total` is 0 when it is not known.
  std::function<void(std::string_view what, uint64_t done, uint64_t total)> progress;
  bool into_existing = false;  // also when the target has keys of its own, which are replaced
};

struct CopyReport {
  struct Part {
    uint64_t keys = 0;
    uint64_t checksum = 0;  // of keys and values, as they are in the target
  };
  Revision source_revision = 0;
  Revision target_revision = 0;
  uint64_t written = 0;               // the others were there already
  std::map<std::string, Part> parts;  // by resource: "/registry/pods"
};

// kAlreadyExists when the target is not empty, kConflict when the source changed meanwhile,
// kCorrupt when the comparison fails. Runs where it is awaited, and on threads of the stores.
Task<Result<CopyReport>> CopyStore(Store& from, Store& to, CopyOptions options);

}  // namespace keelson::kv
