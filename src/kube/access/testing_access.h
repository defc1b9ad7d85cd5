#pragma once

// The resources of role-based access control over a memory store, driven by hand.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/catalog.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/gate.h"
#include "kube/access/policy_feed.h"
#include "kube/access/policy_objects.h"
#include "kube/access/rbac_kinds.h"
#include "kv/memory_store.h"
#include "storage/resource_keys.h"
#include "value/json.h"

namespace keelson::kube::access::testing {

class TestCluster {
 public:
  TestCluster()
      : defaults_(Defaults()),
        store_(kv::NewMemoryStore(clock_)),
        feed_(store_.get(), &executor_, &clock_) {
    feed_.Start();
    for (auto plural : {"roles", "clusterroles", "rolebindings", "clusterrolebindings"}) {
      AddResource(kRbacGroup, plural);
    }
    Settle();
  }
  ~TestCluster() {
    Unfollow();
    Run(feed_.Stop());
    resources_.clear();
    Settle();
    Run(store_->Close());
  }

  void AddResource(std::string_view group, std::string_view plural) {
    resources_.emplace(plural, std::make_unique<Resource>(*this, group, plural));
  }
  const rest::ResourceSpec& spec(std::string_view plural) {
    return resources_.find(plural)->second->spec;
  }
  RbacResources rbac() {
    return {&spec("roles"), &spec("clusterroles"), &spec("rolebindings"),
            &spec("clusterrolebindings")};
  }

  // Keeps `policy` current until Unfollow.
  void Follow(rbac::PolicySet& policy) {
    policy_feed_ = std::make_unique<PolicyFeed>(
        rbac(), PolicyFeed::Deps{policy, *store_, feed_, executor_, clock_});
    policy_feed_->Start();
    Settle();
  }
  void Unfollow() {
    if (policy_feed_ == nullptr) return;
    Run(policy_feed_->Stop());
    policy_feed_.reset();
  }
  PolicyFeed& policy_feed() { return *policy_feed_; }

  // Writes an object as it is.
  void Put(std::string_view plural, std::string_view json) {
    auto object = value::ParseJson(json);
    KEELSON_CHECK(object.has_value());
    auto& one = spec(plural);
    auto stored = Run(one.store->Create(one.encoder->Encode(object->root())));
    KEELSON_CHECK(stored.has_value());
    Settle();
  }
  void Delete(std::string_view plural, std::string ns, std::string name) {
    KEELSON_CHECK(Run(spec(plural).store->Delete(std::move(ns), std::move(name))).has_value());
    Settle();
  }
  // The object's JSON; null when there is none.
  value::Document Get(std::string_view plural, std::string ns, std::string name) {
    auto object = Run(spec(plural).store->Get(std::move(ns), std::move(name)));
    return object ? *value::ParseJson((*object)->json_view()) : value::Document();
  }
  size_t Count(std::string_view plural) {
    return static_cast<size_t>(*Run(spec(plural).store->Count()));
  }

  template <typename T>
  T Run(Task<T> task) {
    std::optional<T> result;
    Gate gate;
    gate.Spawn(&executor_, Keep(std::move(task), &result));
    for (executor_.RunUntilIdle(); !result;) {
      clock_.Advance(std::chrono::milliseconds(100), [&] { executor_.RunUntilIdle(); });
    }
    gate.CloseAndWait();
    return *std::move(result);
  }
  void Run(Task<void> task) {
    Gate gate;
    gate.Spawn(&executor_, std::move(task));
    executor_.RunUntilIdle();
    gate.CloseAndWait();
  }
  void Settle() { executor_.RunUntilIdle(); }

  kv::Store& store() { return *store_; }
  FakeClock& clock() { return clock_; }
  ManualExecutor& executor() { return executor_; }

 private:
  struct Resource {
    Resource(TestCluster& cluster, std::string_view group, std::string_view plural)
        : info(*api::kCatalog.Find(group, "v1")->FindResource(plural)),
          encoder(info, /*list_items_keep_type=*/false),
          codec(encoder.field_labels()) {
      auto options = std::make_shared<storage::ResourceOptions>();
      options->resource = {std::string(group), std::string(plural)};
      options->prefix = storage::ResourcePrefix(options->resource, /*built_in=*/true);
      options->namespaced = info.scope == schema::Scope::kNamespaced;
      options->fields = encoder.field_labels();
      options->codec = &codec;
      objects = std::make_unique<storage::ObjectStore>(options, cluster.store_.get(),
                                                       &cluster.feed_, &cluster.clock_);
      rest::KindTable kinds;
      kinds.Add(Strategies());
      const auto* strategy = kinds.FindStrategy(group, plural);
      spec = rest::Completed({.catalog = &api::kCatalog,
                              .info = &info,
                              .strategy = strategy != nullptr ? strategy : &cluster.plain_,
                              .defaults = &cluster.defaults_,
                              .encoder = &encoder,
                              .store = objects.get(),
                              .clock = &cluster.clock_});
    }
    const schema::ResourceInfo& info;
    rest::ImageEncoder encoder;
    storage::RecordCodec codec;
    std::unique_ptr<storage::ObjectStore> objects;
    rest::ResourceSpec spec;
  };

  template <typename T>
  static Task<void> Keep(Task<T> task, std::optional<T>* result) {
    result->emplace(co_await std::move(task));
  }

  FakeClock clock_;
  ManualExecutor executor_;
  const rest::Strategy plain_;
  const schema::DefaultHooks defaults_;
  std::unique_ptr<kv::Store> store_;
  storage::CacheFeed feed_;
  std::map<std::string, std::unique_ptr<Resource>, std::less<>> resources_;
  std::unique_ptr<PolicyFeed> policy_feed_;
};

}  // namespace keelson::kube::access::testing
