#pragma once

// CustomKind: what is served of one CustomResourceDefinition, at all its versions.
//
// Made whenever a definition changes, immutable and shared: routes hand it to requests, which keep
// it until they are done, so a newer one may take its place at any time. It costs little until
// somebody asks for an object; then the schemas are compiled and a store is opened, once.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "auth/authorizer.h"
#include "base/clock.h"
#include "base/result.h"
#include "kv/store.h"
#include "rest/resource.h"
#include "rest/stored_value.h"
#include "schema/resource.h"
#include "storage/cache_feed.h"
#include "storage/cached_object.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::apiextensions {

class Serving;

// What all custom kinds are served with. Everything outlives them.
struct KindParts {
  const schema::Catalog& catalog;
  kv::Store& store;
  storage::CacheFeed& feed;
  Clock& clock;
  const admission::Chain* admission = nullptr;
  auth::Authorizer* authorizer = nullptr;
  rest::StoredForm form = rest::StoredForm::kRecord;
  // Encryption at rest; nothing is encrypted without.
  std::function<const storage::ValueTransformer*(const GroupResource&)> transformer = {};
};

class CustomKind {
 public:
  // `definition` is stored and valid; `root` is its tree, needed only here.
  CustomKind(storage::ObjectRef definition, const value::Value& root, const KindParts& parts);
  ~CustomKind();

  std::string_view group() const { return group_; }
  std::string_view plural() const { return plural_; }
  bool namespaced() const { return namespaced_; }
  // Kinds are served a moment before discovery tells of them.
  bool established() const { return established_; }
  // Its objects are being removed; no new ones are taken.
  bool terminating() const { return terminating_.load(std::memory_order_relaxed); }
  void SetTerminating() const { terminating_.store(true, std::memory_order_relaxed); }

  // The served versions, preferred ones first: names, verbs and subresources. Without types.
  std::span<const schema::ResourceInfo> versions() const { return versions_; }
  const schema::ResourceInfo* FindVersion(std::string_view version) const;

  // The definition as it is stored.
  const storage::CachedObject& definition() const { return *definition_; }

  // What answers requests; null for a version or subresource that is not served. An empty
  // subresource is the kind itself. Fails for a schema that cannot be compiled.
  Result<const rest::ResourceHandler*> Find(std::string_view version,
                                            std::string_view subresource) const;
  // The kind in the version it is stored in.
  Result<const rest::ResourceSpec*> Stored() const;

  // Ends its watches, when another kind takes its place or none does.
  void Retire() const;

 private:
  Result<const Serving*> Open() const;
  std::span<const std::string_view> Texts(const value::Value& list);
  void AddVersion(const value::Value& root, const value::Value& version);

  const KindParts& parts_;
  const storage::ObjectRef definition_;
  const value::ArenaRef arena_;  // of all texts
  std::string_view group_;
  std::string_view plural_;
  bool namespaced_ = true;
  bool established_ = false;
  mutable std::atomic<bool> terminating_{false};
  std::vector<schema::ResourceInfo> versions_;

  mutable std::once_flag once_;
  mutable std::unique_ptr<const Serving> serving_;
  mutable std::optional<Error> failure_;
  mutable std::atomic<bool> opened_{false};
};

using CustomKindRef = std::shared_ptr<const CustomKind>;

}  // namespace keelson::apiextensions
