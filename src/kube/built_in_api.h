#pragma once

// The built-in API: every served group-version of the catalog, ready to be put into a server.
//
// Owns what the resources need (encoders, codecs, stores, handlers) and hands out one endpoint for
// all of them. Made once at start; nothing is read from the store until somebody asks.

#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "admission/admission.h"
#include "auth/authorizer.h"
#include "base/clock.h"
#include "kv/store.h"
#include "rest/form_cache.h"
#include "rest/kind_table.h"
#include "rest/resource.h"
#include "rest/stored_value.h"
#include "rest/strategy.h"
#include "schema/convert.h"
#include "schema/resource.h"
#include "schema/transform.h"
#include "server/api_endpoint.h"
#include "server/path_mux.h"
#include "storage/cache_feed.h"
#include "storage/object_store.h"
#include "value/name.h"

namespace keelson::kube {

// Everything outlives the API.
struct ApiParts {
  const schema::Catalog& catalog;
  kv::Store& store;
  storage::CacheFeed& feed;
  Clock& clock;
  rest::KindTable kinds;
  const admission::Chain* admission = nullptr;
  auth::Authorizer* authorizer = nullptr;
  rest::StoredForm form = rest::StoredForm::kRecord;  // what is written; all are read
  // How a resource's values are encrypted; may be empty, and may answer null.
  std::function<const storage::ValueTransformer*(const GroupResource&)> transformer = {};
  bool allow_privileged = true;  // see rest::WriteScope
};

class BuiltInApi final : public rest::ObjectStores {
 public:
  explicit BuiltInApi(ApiParts parts);
  ~BuiltInApi() override;

  struct Beside {
    // Without it nobody is told which groups there are; they are served all the same.
    bool discovery = true;
    // Groups of other servers of the chain; may be null.
    const server::DiscoverySource* groups = nullptr;
  };
  void Install(server::PathMux& mux, const Beside& beside);

  // A stored resource, or a subresource of it; null when there is none of that name. Lives as long
  // as this.
  const rest::ResourceSpec* Find(std::string_view group, std::string_view plural,
                                 std::string_view subresource = "") const;
  storage::ObjectStore* FindStore(std::string_view group, std::string_view resource) const override;
  rest::StoredForm stored_form() const { return parts_.form; }

 private:
  // For protobuf messages of all kinds together.
  static constexpr size_t kFormCacheBytes = size_t{32} << 20;

  struct Served;
  struct Stored;

  Stored* StoredAs(const schema::ResourceInfo& info);
  void AddStored(const schema::ResourceInfo& info);
  void AddResource(const schema::ResourceInfo& info);
  void AddSubresource(const rest::ResourceSpec& resource, const schema::Subresource& subresource);
  void Serve(rest::ResourceSpec spec);
  std::vector<rest::DiscoveryGroup> DiscoveryGroups() const;

  const ApiParts parts_;
  const rest::Strategy plain_;
  const schema::DefaultHooks defaults_;
  rest::FormCache forms_{kFormCacheBytes};
  const schema::TableConverter converter_;
  std::vector<std::unique_ptr<Stored>> stored_;
  struct ByResource {
    size_t operator()(const std::pair<std::string_view, std::string_view>& key) const {
      return value::HashName(key.first) ^ value::HashName(key.second) * size_t{31};
    }
  };
  // By resource and group.
  std::unordered_map<std::pair<std::string_view, std::string_view>, storage::ObjectStore*,
                     ByResource>
      stores_;
  std::vector<std::unique_ptr<Served>> served_;
  std::vector<std::unique_ptr<const rest::Strategy>> status_strategies_;
  std::vector<std::unique_ptr<const rest::Projection>> projections_;
  std::vector<std::unique_ptr<const patch::VersionConverter>> versions_;
};

}  // namespace keelson::kube
