#pragma once

// Follow: the objects of a resource and all their changes, for code that keeps something in step
// with them.

#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/task.h"
#include "storage/object_store.h"
#include "storage/watcher.h"

namespace keelson::storage {

class Follower {
 public:
  virtual ~Follower() = default;
  // All objects there are: at first, and again whenever changes may have been missed.
  virtual void Replace(const std::vector<ObjectRef>& objects) = 0;
  // Changes since, in order, as many as came at once.
  virtual void Apply(const std::vector<WatchEvent>& events) = 0;
};

// Follows until stopped, on the executor it is started on. Failures are logged and tried again
// after a second. Everything outlives the task.
Task<void> Follow(ObjectStore& store, Follower& follower, Clock& clock, std::stop_token stop);

}  // namespace keelson::storage
