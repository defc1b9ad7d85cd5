#pragma once

// KindTable: the code of built-in kinds, found by resource.
//
// What data cannot say about a kind (api/*.api says the rest) is contributed by the folders that
// know the kinds, one span of entries each, and put together once at start:
//
//   KindTable table;
//   table.Add(pod::Strategies());
//   table.Add(pod::Subresources());
//   table.Add(pod::Defaults());
//
// A kind without an entry is served by the rules all kinds share. Entries point to objects that
// outlive the table. Built once, then read by any thread.

#include <span>
#include <string_view>
#include <vector>

#include "rest/strategy.h"
#include "schema/transform.h"

namespace keelson::rest {

class Subresource;
class ComputedObjects;

struct KindStrategy {
  std::string_view group;
  std::string_view resource;
  const Strategy* strategy = nullptr;
};

// One of the two. An empty `subresource` is the resource itself, for kinds of one request.
struct KindSubresource {
  std::string_view group;
  std::string_view resource;
  std::string_view subresource;
  const Strategy* strategy = nullptr;  // shows the object itself
  const Subresource* handler = nullptr;
};

// A kind that is computed when asked for, never stored.
struct KindComputed {
  std::string_view group;
  std::string_view resource;
  const ComputedObjects* objects = nullptr;
};

class KindTable {
 public:
  void Add(std::span<const KindStrategy> entries);
  void Add(std::span<const KindSubresource> entries);
  void Add(std::span<const KindComputed> entries);
  void Add(std::span<const schema::DefaultHook> hooks);

  // Null when nobody contributed one. The last one given wins.
  const Strategy* FindStrategy(std::string_view group, std::string_view resource) const;
  const KindSubresource* FindSubresource(std::string_view group, std::string_view resource,
                                         std::string_view subresource) const;
  const ComputedObjects* FindComputed(std::string_view group, std::string_view resource) const;
  // Conditional defaults of all nested types, in the order they were given.
  schema::DefaultHooks Defaults() const { return schema::DefaultHooks(hooks_); }

 private:
  std::vector<KindStrategy> strategies_;
  std::vector<KindSubresource> subresources_;
  std::vector<KindComputed> computed_;
  std::vector<schema::DefaultHook> hooks_;
};

}  // namespace keelson::rest
