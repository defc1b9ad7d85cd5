#pragma once

// What every kv::Store must do, as one parameterised test suite.
//
// A backend's test program compiles conformance.cc in and instantiates the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance, ::testing::Values(MemoryBackend()),
//   BackendName);
//
// Revisions are taken relative to the store's own, so a backend need not start at 1, but its key
// space must be empty.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kv/store.h"

namespace keelson::kv::testing {

// An open store and the world around it.
class Backend {
 public:
  virtual ~Backend() = default;  // closes the store
  virtual Store& store() = 0;
  // Lets time pass for the store: a fake clock moves, a real one is waited for.
  virtual void Advance(Duration by) = 0;
  virtual TimePoint Now() const = 0;
  // Closes and opens the store again; false when this backend keeps nothing.
  virtual bool Reopen() = 0;
};

struct BackendParam {
  std::string name;
  std::function<std::unique_ptr<Backend>()> make;
  // A watch reads previous values when it sends, so that compaction may have taken them by then.
  bool compaction_takes_previous = false;
};
inline std::string BackendName(const ::testing::TestParamInfo<BackendParam>& info) {
  return info.param.name;
}

BackendParam MemoryBackend();

// A small language over one store. Failures of calls that must succeed fail the test.
class StoreConformance : public ::testing::TestWithParam<BackendParam> {
 protected:
  StoreConformance();
  ~StoreConformance() override;

  Store& store() { return backend_->store(); }
  Revision Now();
  Revision Put(const std::string& key, const std::string& value, LeaseId lease = 0);
  Revision Delete(const std::string& key);
  // "value@mod/create/version" with revisions relative to the start, or "absent".
  std::string Get(const std::string& key);
  // "a=1 b=2", or the error's code.
  std::string List(RangeRequest request);
  std::string List(const KeyRange& range, Revision revision = 0) {
    return List(RangeRequest{.range = range, .revision = revision});
  }
  TransactionResult Commit(Transaction transaction);
  std::unique_ptr<Watch> StartWatch(const KeyRange& range, Revision start = 0,
                                    size_t buffer_bytes = size_t{4} << 20);
  // The next `count` events: "put a=1 (was 0) @2", "delete a (was 1) @3", relative revisions.
  std::vector<std::string> Events(Watch& watch, size_t count);
  Revision Relative(Revision revision) const { return revision - base_; }

  std::unique_ptr<Backend> backend_;
  Revision base_ = 0;
};

}  // namespace keelson::kv::testing
