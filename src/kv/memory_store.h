#pragma once

// A kv::Store in memory: the plainest one that keeps the whole contract but durability. For tests
// and for servers whose state may vanish. No call suspends, except Watch::Next.

#include <memory>

#include "base/clock.h"
#include "kv/apply.h"
#include "kv/store.h"

namespace keelson::kv {

struct MemoryStoreOptions {
  Limits limits;
  // History older or larger than this is compacted, when somebody writes or looks at it; 0 is
  // without limit.
  Duration history_age = Duration::zero();
  size_t history_bytes = 0;
};

// `clock` must outlive the store; it times leases and deadlines.
std::unique_ptr<Store> NewMemoryStore(Clock& clock, MemoryStoreOptions options = {});

}  // namespace keelson::kv
