#pragma once

// A memory store with a clock and an executor that are driven by hand, and resources kept in it.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/catalog.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/gate.h"
#include "kv/memory_store.h"
#include "rest/kind_table.h"
#include "rest/resource.h"
#include "storage/cache_feed.h"
#include "storage/resource_keys.h"

namespace keelson::rest::testing {

class TestStore {
 public:
  TestStore() : store_(kv::NewMemoryStore(clock_)), feed_(store_.get(), &executor_, &clock_) {
    feed_.Start();
    Settle();
  }
  ~TestStore() {
    Run(feed_.Stop());
    resources_.clear();
    Settle();
    Run(store_->Close());
  }
  TestStore(const TestStore&) = delete;
  TestStore& operator=(const TestStore&) = delete;

  // What is special about the kinds; set before the first Spec.
  void SetKinds(KindTable kinds) {
    kinds_ = std::move(kinds);
    defaults_ = kinds_.Defaults();
  }
  // Version v1 of a resource, made at first use.
  const ResourceSpec& Spec(std::string_view group, std::string_view plural) {
    auto& resource = resources_[std::string(plural)];
    if (!resource) resource = std::make_unique<Resource>(*this, group, plural);
    return resource->spec;
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
  storage::CacheFeed& feed() { return feed_; }
  FakeClock& clock() { return clock_; }
  ManualExecutor& executor() { return executor_; }
  const schema::DefaultHooks& defaults() const { return defaults_; }

 private:
  struct Resource {
    Resource(TestStore& test, std::string_view group, std::string_view plural)
        : info(*api::kCatalog.Find(group, "v1")->FindResource(plural)),
          encoder(info, /*list_items_keep_type=*/false),
          codec(encoder.field_labels()) {
      auto options = std::make_shared<storage::ResourceOptions>();
      options->resource = {std::string(group), std::string(plural)};
      options->prefix = storage::ResourcePrefix(options->resource, /*built_in=*/true);
      options->namespaced = info.scope == schema::Scope::kNamespaced;
      options->fields = encoder.field_labels();
      options->codec = &codec;
      objects = std::make_unique<storage::ObjectStore>(options, test.store_.get(), &test.feed_,
                                                       &test.clock_);
      const auto* strategy = test.kinds_.FindStrategy(group, plural);
      spec = Completed({.catalog = &api::kCatalog,
                        .info = &info,
                        .strategy = strategy != nullptr ? strategy : &test.plain_,
                        .defaults = &test.defaults_,
                        .encoder = &encoder,
                        .store = objects.get(),
                        .clock = &test.clock_});
    }
    const schema::ResourceInfo& info;
    ImageEncoder encoder;
    storage::RecordCodec codec;
    std::unique_ptr<storage::ObjectStore> objects;
    ResourceSpec spec;
  };

  template <typename T>
  static Task<void> Keep(Task<T> task, std::optional<T>* result) {
    result->emplace(co_await std::move(task));
  }

  FakeClock clock_;
  ManualExecutor executor_;
  const Strategy plain_;
  KindTable kinds_;
  schema::DefaultHooks defaults_;
  std::unique_ptr<kv::Store> store_;
  storage::CacheFeed feed_;
  std::map<std::string, std::unique_ptr<Resource>> resources_;
};

}  // namespace keelson::rest::testing
