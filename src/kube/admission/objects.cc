#include "kube/admission/objects.h"

#include "storage/object_store.h"
#include "storage/watch_cache.h"
#include "value/json.h"

namespace keelson::kube::plugins {

using value::Document;

storage::ObjectRef Objects::Cached(std::string_view group, std::string_view resource,
                                   std::string_view ns, std::string_view name) const {
  auto* store = Store(group, resource);
  return store == nullptr ? storage::ObjectRef() : store->Cached(ns, name);
}

Task<ApiResult<storage::ObjectRef>> Objects::Find(std::string_view group, std::string_view resource,
                                                  std::string ns, std::string name) const {
  auto* store = Store(group, resource);
  if (store == nullptr) co_return storage::ObjectRef();
  if (auto cached = store->Cached(ns, name)) co_return cached;
  auto object = co_await store->Get(std::move(ns), std::move(name));
  if (!object && object.error().code == 404) co_return storage::ObjectRef();
  co_return object;
}

Task<ApiResult<std::optional<Document>>> Objects::Get(std::string_view group,
                                                      std::string_view resource, std::string ns,
                                                      std::string name) const {
  auto object = co_await Find(group, resource, std::move(ns), std::move(name));
  if (!object) co_return std::unexpected(std::move(object).error());
  if (!*object) co_return std::nullopt;
  auto document = value::ParseJson((*object)->json_view());
  if (!document) co_return std::unexpected(InternalErrorStatus(document.error().message));
  co_return *std::move(document);
}

Task<ApiResult<std::vector<Document>>> Objects::List(std::string_view group,
                                                     std::string_view resource, std::string ns,
                                                     std::string_view text) const {
  std::vector<Document> found;
  auto* store = Store(group, resource);
  if (store == nullptr) co_return found;
  storage::ListOptions options;
  options.ns = std::move(ns);
  auto list = co_await store->List(std::move(options));
  if (!list) co_return std::unexpected(std::move(list).error());
  for (const auto& object : list->objects) {
    if (object->json_view().find(text) == std::string_view::npos) continue;
    auto document = value::ParseJson(object->json_view());
    if (!document) co_return std::unexpected(InternalErrorStatus(document.error().message));
    found.push_back(*std::move(document));
  }
  co_return found;
}

std::optional<std::vector<storage::ObjectRef>> Objects::CachedWith(std::string_view group,
                                                                   std::string_view resource,
                                                                   std::string_view text) const {
  std::vector<storage::ObjectRef> found;
  auto* store = Store(group, resource);
  if (store == nullptr) return found;
  const auto snapshot = store->cache().snapshot();
  if (!snapshot) return std::nullopt;
  store->cache().Touch();
  for (auto at = snapshot->objects().Seek(""); at.valid(); at.Next()) {
    if (at.object()->json_view().find(text) == std::string_view::npos) continue;
    found.push_back(storage::ObjectRef::Share(at.object()));
  }
  return found;
}

bool Objects::KnownToBeNone(std::string_view group, std::string_view resource,
                            std::string_view ns) const {
  auto* store = Store(group, resource);
  if (store == nullptr) return true;
  const auto snapshot = store->cache().snapshot();
  if (!snapshot) return false;
  store->cache().Touch();
  if (snapshot->objects().size() == 0) return true;
  std::string from(ns);
  std::string to(ns);
  from += '/';
  to += '0';  // what follows '/'
  return snapshot->objects().Count(from, to) == 0;
}

}  // namespace keelson::kube::plugins
