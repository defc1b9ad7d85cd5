#include "kube/admission/objects.h"

#include "storage/object_store.h"
#include "storage/watch_cache.h"
#include "value/json.h"

namespace keelson::kube::plugins {

using value::Document;

Task<ApiResult<std::optional<Document>>> Objects::Get(std::string_view group,
                                                      std::string_view resource, std::string ns,
                                                      std::string name) const {
  auto* store = Store(group, resource);
  if (store == nullptr) co_return std::nullopt;
  auto object = co_await store->Get(std::move(ns), std::move(name));
  if (!object) {
    if (object.error().code == 404) co_return std::nullopt;
    co_return std::unexpected(std::move(object).error());
  }
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
