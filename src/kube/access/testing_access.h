#pragma once

// The resources of role-based access control over a memory store, driven by hand.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kube/access/policy_feed.h"
#include "kube/access/policy_objects.h"
#include "kube/access/rbac_kinds.h"
#include "rest/testing_store.h"
#include "value/json.h"

namespace keelson::kube::access::testing {

class TestCluster {
 public:
  TestCluster() {
    rest::KindTable kinds;
    kinds.Add(Strategies());
    kinds.Add(Defaults());
    test_.SetKinds(std::move(kinds));
    for (auto plural : {"roles", "clusterroles", "rolebindings", "clusterrolebindings"}) {
      AddResource(kRbacGroup, plural);
    }
    Settle();
  }
  ~TestCluster() { Unfollow(); }

  void AddResource(std::string_view group, std::string_view plural) {
    specs_.emplace(plural, &test_.Spec(group, plural));
  }
  const rest::ResourceSpec& spec(std::string_view plural) { return *specs_.find(plural)->second; }
  RbacResources rbac() {
    return {&spec("roles"), &spec("clusterroles"), &spec("rolebindings"),
            &spec("clusterrolebindings")};
  }

  // Keeps `policy` current until Unfollow.
  void Follow(rbac::PolicySet& policy) {
    policy_feed_ = std::make_unique<PolicyFeed>(
        rbac(), PolicyFeed::Deps{policy, store(), test_.feed(), executor(), clock()});
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
    return test_.Run(std::move(task));
  }
  void Settle() { test_.Settle(); }

  kv::Store& store() { return test_.store(); }
  FakeClock& clock() { return test_.clock(); }
  ManualExecutor& executor() { return test_.executor(); }

 private:
  rest::testing::TestStore test_;
  std::map<std::string, const rest::ResourceSpec*, std::less<>> specs_;
  std::unique_ptr<PolicyFeed> policy_feed_;
};

}  // namespace keelson::kube::access::testing
