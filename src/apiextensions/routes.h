#pragma once

// Routes: which custom kinds there are, right now.
//
// One thread publishes; every io thread reads, without a lock. What was read stays valid for as
// long as it is held, so a request is never affected by a change made meanwhile. Discovery and
// OpenAPI follow from the same table.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "apiextensions/custom_kind.h"
#include "rest/discovery.h"

namespace keelson::apiextensions {

class RouteTable {
 public:
  // Sorted by group and plural. `version` is another one for each table.
  RouteTable(std::vector<CustomKindRef> kinds, uint64_t version)
      : kinds_(std::move(kinds)), version_(version) {}

  // Null when there is no such kind.
  const CustomKindRef* Find(std::string_view group, std::string_view plural) const;
  // What discovery tells of all groups, or of one. Points into the kinds.
  std::vector<rest::DiscoveryGroup> Groups(std::string_view only = {}) const;

  const std::vector<CustomKindRef>& kinds() const { return kinds_; }
  uint64_t version() const { return version_; }

 private:
  const std::vector<CustomKindRef> kinds_;
  const uint64_t version_;
};

class Routes {
 public:
  Routes() { Publish({}); }

  std::shared_ptr<const RouteTable> table() const { return table_.load(); }
  // Takes the place of the table there was. One thread at a time.
  void Publish(std::vector<CustomKindRef> kinds) {
    table_.store(std::make_shared<const RouteTable>(std::move(kinds), ++published_));
  }

 private:
  uint64_t published_ = 0;
  std::atomic<std::shared_ptr<const RouteTable>> table_;
};

}  // namespace keelson::apiextensions
