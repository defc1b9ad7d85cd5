#pragma once

// Collecting a page of a list: selection, limit, and what the next page needs.

#include <string>
#include <string_view>

#include "storage/object_store.h"
#include "storage/resource.h"

namespace keelson::storage {

// The keys that a list is about, relative to the resource's prefix.
struct ListRange {
  std::string prefix;  // "<namespace>/" or empty
  std::string from;    // where this page starts
  std::string to;      // where the prefix ends; empty is the end of all keys
  std::string name;    // only this name, when not empty

  ListRange(const ResourceOptions& resource, const ListOptions& options, std::string start);
  bool Contains(std::string_view key) const { return to.empty() || key < to; }
};

class ListCollector {
 public:
  // `limit` 0 is none.
  ListCollector(const ResourceOptions& resource, const ListOptions& options, int64_t limit)
      : predicate_(resource, options.labels, options.fields), name_(options.name), limit_(limit) {}

  bool full() const { return limit_ > 0 && taken() >= limit_; }
  int64_t taken() const { return static_cast<int64_t>(result_.objects.size()); }
  bool selects_all() const { return predicate_.empty() && name_.empty(); }

  void Offer(const CachedObject* object) {
    if (selects_all() || Selects(*object)) {
      result_.objects.push_back(ObjectRef::Share(object));
    }
  }

  // `more` tells that keys follow the last one offered; `in_range` how many there were from the
  // start of this page on.
  ListResult Finish(const ListRange& range, Revision revision, bool more, int64_t in_range) &&;

 private:
  bool Selects(const CachedObject& object) const {
    return (name_.empty() || object.name() == name_) && predicate_.Matches(object);
  }

  Predicate predicate_;
  const std::string name_;
  const int64_t limit_;
  ListResult result_;
};

}  // namespace keelson::storage
