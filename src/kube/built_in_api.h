#pragma once

// The built-in API: every served group-version of the catalog, ready to be put into a server.
//
// Owns what the resources need (encoders, codecs, stores, handlers) and hands out one endpoint for
// all of them. Made once at start; nothing is read from the store until somebody asks.

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kv/store.h"
#include "rest/resource.h"
#include "rest/strategy.h"
#include "schema/resource.h"
#include "schema/transform.h"
#include "server/api_endpoint.h"
#include "server/path_mux.h"
#include "storage/cache_feed.h"
#include "storage/object_store.h"

namespace keelson::kube {

class BuiltInApi {
 public:
  // The store, the feed and the clock outlive it.
  BuiltInApi(const schema::Catalog& catalog, kv::Store& store, storage::CacheFeed& feed,
             Clock& clock);
  ~BuiltInApi();

  void Install(server::PathMux& mux);

  // A stored resource; null when there is none of that name. Lives as long as this.
  const rest::ResourceSpec* Find(std::string_view group, std::string_view plural) const;

 private:
  struct Served;

  const rest::Strategy* StrategyOf(const schema::ResourceInfo& info) const;
  void AddResource(const schema::ResourceInfo& info);
  std::vector<rest::DiscoveryGroup> DiscoveryGroups() const;

  const schema::Catalog& catalog_;
  kv::Store& store_;
  storage::CacheFeed& feed_;
  Clock& clock_;
  const rest::Strategy plain_;
  const schema::DefaultHooks defaults_;
  std::vector<std::unique_ptr<Served>> served_;
};

}  // namespace keelson::kube
