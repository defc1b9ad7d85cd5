#pragma once

// The local copy that an informer keeps. Any thread may read; what is read is as of one event.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "value/document.h"

namespace keelson::client {

// "namespace/name", or "name" for what belongs to none.
std::string KeyOf(const value::Value& object);

// The values that an object is to be found under.
using IndexFunction = std::function<std::vector<std::string>(const value::Value& object)>;
using Indexers = std::map<std::string, IndexFunction, std::less<>>;

class ObjectStore {
 public:
  explicit ObjectStore(Indexers indexers = {});

  std::optional<value::Document> Get(std::string_view key) const;
  // In the order of their keys; of one namespace, or all.
  std::vector<value::Document> List(std::string_view ns = {}) const;
  std::vector<std::string> Keys() const;
  // In the order of their keys. The index must be one of the indexers'.
  std::vector<value::Document> ByIndex(std::string_view index, std::string_view value) const;
  size_t size() const;

  // For the informer. Each returns what was there before.
  std::optional<value::Document> Put(value::Document object);
  std::optional<value::Document> Remove(std::string_view key);

 private:
  using KeySet = std::set<std::string, std::less<>>;
  struct Index {
    IndexFunction function;
    std::map<std::string, KeySet, std::less<>> keys;  // by value
  };
  void Enter(const std::string& key, const value::Document& object);
  void Leave(std::string_view key, const value::Document& object);

  mutable std::shared_mutex mutex_;
  std::map<std::string, value::Document, std::less<>> objects_;
  std::map<std::string, Index, std::less<>> indexes_;
};

}  // namespace keelson::client
