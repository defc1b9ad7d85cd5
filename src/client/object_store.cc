#include "client/object_store.h"

#include <mutex>
#include <utility>

#include "base/result.h"

namespace keelson::client {

using value::Document;

std::string KeyOf(const value::Value& object) {
  const auto metadata = object["metadata"];
  std::string key(metadata["namespace"].AsString());
  if (!key.empty()) key += '/';
  return key += metadata["name"].AsString();
}

ObjectStore::ObjectStore(Indexers indexers) {
  for (auto& [name, function] : indexers) indexes_[name].function = std::move(function);
}

std::optional<Document> ObjectStore::Get(std::string_view key) const {
  std::shared_lock lock(mutex_);
  const auto found = objects_.find(key);
  return found == objects_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Document> ObjectStore::List(std::string_view ns) const {
  std::string prefix(ns);
  if (!prefix.empty()) prefix += '/';
  std::vector<Document> out;
  std::shared_lock lock(mutex_);
  for (auto at = objects_.lower_bound(prefix);
       at != objects_.end() && at->first.starts_with(prefix); ++at) {
    out.push_back(at->second);
  }
  return out;
}

std::vector<std::string> ObjectStore::Keys() const {
  std::vector<std::string> keys;
  std::shared_lock lock(mutex_);
  for (const auto& [key, object] : objects_) keys.push_back(key);
  return keys;
}

std::vector<Document> ObjectStore::ByIndex(std::string_view index, std::string_view value) const {
  std::vector<Document> out;
  std::shared_lock lock(mutex_);
  const auto wanted = indexes_.find(index);
  KEELSON_CHECK(wanted != indexes_.end());
  const auto keys = wanted->second.keys.find(value);
  if (keys == wanted->second.keys.end()) return out;
  for (const auto& key : keys->second) out.push_back(objects_.find(key)->second);
  return out;
}

size_t ObjectStore::size() const {
  std::shared_lock lock(mutex_);
  return objects_.size();
}

std::optional<Document> ObjectStore::Put(Document object) {
  auto key = KeyOf(object.root());
  std::lock_guard lock(mutex_);
  std::optional<Document> old;
  if (const auto found = objects_.find(key); found != objects_.end()) {
    Leave(key, found->second);
    old = std::exchange(found->second, object);
  } else {
    objects_.emplace(key, object);
  }
  Enter(key, object);
  return old;
}

std::optional<Document> ObjectStore::Remove(std::string_view key) {
  std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return std::nullopt;
  Leave(key, found->second);
  auto old = std::move(found->second);
  objects_.erase(found);
  return old;
}

void ObjectStore::Enter(const std::string& key, const Document& object) {
  for (auto& [name, index] : indexes_) {
    for (auto& value : index.function(object.root())) index.keys[std::move(value)].insert(key);
  }
}

void ObjectStore::Leave(std::string_view key, const Document& object) {
  for (auto& [name, index] : indexes_) {
    for (const auto& value : index.function(object.root())) {
      const auto keys = index.keys.find(value);
      if (keys == index.keys.end()) continue;
      if (const auto at = keys->second.find(key); at != keys->second.end()) keys->second.erase(at);
      if (keys->second.empty()) index.keys.erase(keys);
    }
  }
}

}  // namespace keelson::client
