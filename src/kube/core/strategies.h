#pragma once

// The core group's kinds but for Pod and Service, and Lease: what is special about each when it is
// written. Contributed to rest::KindTable.

#include <chrono>
#include <memory>
#include <span>

#include "rest/kind_table.h"
#include "schema/transform.h"

namespace keelson::kube::core {

struct Options {
  std::chrono::seconds event_time_to_live = std::chrono::hours(1);  // --event-ttl
};

// Owns the strategies; outlives the table that they are added to.
class Kinds {
 public:
  explicit Kinds(const Options& options);
  ~Kinds();

  void AddTo(rest::KindTable& table) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

// Conditional defaults of the group's types.
std::span<const schema::DefaultHook> Defaults();

}  // namespace keelson::kube::core
