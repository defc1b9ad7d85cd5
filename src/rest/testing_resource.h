#pragma once

// One resource served from a memory store, driven by hand: requests go in as text, answers come
// out.

#include <memory>
#include <string>
#include <string_view>

#include "api/catalog.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/gate.h"
#include "http/fake_exchange.h"
#include "kv/memory_store.h"
#include "rest/resource.h"
#include "storage/cache_feed.h"
#include "storage/resource_keys.h"
#include "value/json.h"

namespace keelson::rest::testing {

class TestResource {
 public:
  TestResource(std::string_view group, std::string_view version, std::string_view plural,
               const Strategy& strategy, const TablePrinter* printer = nullptr)
      : info_(*api::kCatalog.Find(group, version)->FindResource(plural)),
        encoder_(info_, /*list_items_keep_type=*/false),
        codec_(encoder_.field_labels()),
        store_(kv::NewMemoryStore(clock_)) {
    auto options = std::make_shared<storage::ResourceOptions>();
    options->resource = {std::string(info_.group), std::string(info_.plural)};
    options->prefix = std::string(info_.plural);
    options->namespaced = info_.scope == schema::Scope::kNamespaced;
    options->fields = encoder_.field_labels();
    options->codec = &codec_;
    feed_ = std::make_unique<storage::CacheFeed>(store_.get(), &executor_, &clock_);
    objects_ = std::make_unique<storage::ObjectStore>(options, store_.get(), feed_.get(), &clock_);
    feed_->Start();
    executor_.RunUntilIdle();
    handler_ = std::make_unique<ResourceHandler>(ResourceSpec{.catalog = &api::kCatalog,
                                                              .info = &info_,
                                                              .strategy = &strategy,
                                                              .defaults = &defaults_,
                                                              .printer = printer,
                                                              .encoder = &encoder_,
                                                              .store = objects_.get(),
                                                              .clock = &clock_});
  }
  ~TestResource() {
    Run(feed_->Stop());
    objects_.reset();
    feed_.reset();
    Run(store_->Close());
  }

  // Stores an object as it is, without the checks of a create.
  storage::ObjectRef Store(std::string_view json) {
    storage::ObjectRef stored;
    Run(Keep(objects_->Create(encoder_.Encode(value::ParseJson(json)->root())), &stored));
    return stored;
  }

  using Verb = Task<void> (ResourceHandler::*)(Request) const;
  // Starts the verb and lets things settle; `fake` holds the answer.
  void Serve(http::FakeExchange& fake, Verb verb, std::string ns, std::string name) {
    ServeAt(*handler_, fake, verb, std::move(ns), std::move(name));
  }
  // The same at another endpoint on these objects.
  void ServeAt(const ResourceHandler& handler, http::FakeExchange& fake, Verb verb, std::string ns,
               std::string name) {
    adapter_ =
        std::make_unique<Adapter>(&handler, verb, std::move(ns), std::move(name), &warnings_);
    fake.Run(*adapter_);
    Settle(fake);
  }
  void Settle(http::FakeExchange& fake) {
    for (int i = 0; i < 8; ++i) {
      executor_.RunUntilIdle();
      fake.Settle();
    }
  }
  void Run(Task<void> task) {
    Gate gate;
    gate.Spawn(&executor_, std::move(task));
    executor_.RunUntilIdle();
    gate.CloseAndWait();
  }

  // What the endpoint is made of, to make others like it.
  const ResourceSpec& spec() const { return handler_->spec(); }
  const ResourceHandler& handler() const { return *handler_; }

  FakeClock& clock() { return clock_; }
  ManualExecutor& executor() { return executor_; }
  kv::Store& store() { return *store_; }
  storage::CacheFeed& feed() { return *feed_; }
  const std::vector<std::string>& warnings() const { return warnings_.texts; }
  storage::ObjectStore& objects() { return *objects_; }

 private:
  class Collected final : public WarningSink {
   public:
    void Warn(std::string_view text) override { texts.emplace_back(text); }
    std::vector<std::string> texts;
  };

  class Adapter final : public http::Handler {
   public:
    Adapter(const ResourceHandler* handler, Verb verb, std::string ns, std::string name,
            WarningSink* warnings)
        : handler_(handler),
          verb_(verb),
          ns_(std::move(ns)),
          name_(std::move(name)),
          warnings_(warnings) {}
    Task<void> Serve(http::Exchange& exchange) override {
      http::Query query(exchange.request.raw_query);
      Request request{.exchange = exchange,
                      .response = *exchange.response,
                      .query = query,
                      .warnings = *warnings_,
                      .ns = ns_,
                      .name = name_,
                      .subresource = handler_->spec().subresource == nullptr
                                         ? std::string_view()
                                         : handler_->spec().subresource->name,
                      .user = std::make_shared<auth::User>(auth::User{.name = "jane"}),
                      .stop = exchange.cancelled.get_token()};
      co_await (handler_->*verb_)(request);
    }

   private:
    const ResourceHandler* handler_;
    Verb verb_;
    std::string ns_;
    std::string name_;
    WarningSink* warnings_;
  };

  static Task<void> Keep(Task<ApiResult<storage::ObjectRef>> task, storage::ObjectRef* out) {
    auto result = co_await std::move(task);
    KEELSON_CHECK(result.has_value());
    *out = *std::move(result);
  }

  FakeClock clock_;
  ManualExecutor executor_;
  const schema::ResourceInfo& info_;
  ImageEncoder encoder_;
  storage::RecordCodec codec_;
  schema::DefaultHooks defaults_;
  Collected warnings_;
  std::unique_ptr<kv::Store> store_;
  std::unique_ptr<storage::CacheFeed> feed_;
  std::unique_ptr<storage::ObjectStore> objects_;
  std::unique_ptr<ResourceHandler> handler_;
  std::unique_ptr<Adapter> adapter_;
};

}  // namespace keelson::rest::testing
