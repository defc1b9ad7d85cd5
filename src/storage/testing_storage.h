#pragma once

// A whole storage stack, driven by hand: one executor, a clock that stands still. Over the memory
// store, or over one with threads of its own; then what it does is waited for.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/gate.h"
#include "kv/memory_store.h"
#include "storage/object_store.h"
#include "storage/resource_keys.h"
#include "storage/testing_objects.h"

namespace keelson::storage::testing {

inline ResourceOptions PodOptions() {
  return {.resource = {"", "pods"},
          .prefix = "pods",
          .namespaced = true,
          .fields = {"spec.nodeName", "status.phase"},
          .indexed_fields = {0},
          .bookmark_before = R"({"kind":"Pod","apiVersion":"v1","metadata":{)",
          .bookmark_after = "}}"};
}

// Replaces an object by an image made of what it is given; or removes it, or leaves it.
class FixedChange final : public Changer {
 public:
  explicit FixedChange(Change::Kind kind, Sample sample = {})
      : kind_(kind), sample_(std::move(sample)) {}
  Task<ApiResult<Change>> Decide(ObjectRef current) override {
    ++asked;
    Change change{.kind = kind_};
    if (kind_ == Change::Kind::kPut) change.image = MakeImage(sample_);
    co_return change;
  }
  int asked = 0;

 private:
  Change::Kind kind_;
  Sample sample_;
};

class TestStorage {
 public:
  // Opens the store; called again by Restart.
  using OpenStore = std::function<std::unique_ptr<kv::Store>(Clock&)>;

  explicit TestStorage(FeedOptions options = {}, ResourceOptions pods = PodOptions(),
                       OpenStore open_store = nullptr)
      : codec_(pods.fields), open_store_(std::move(open_store)) {
    if (pods.codec == nullptr) pods.codec = &codec_;
    store_ = open_store_ ? open_store_(clock_) : kv::NewMemoryStore(clock_);
    pod_options_ = std::make_shared<const ResourceOptions>(std::move(pods));
    feed_options_ = options;
    Open();
  }
  ~TestStorage() {
    Shut();
    Run(store_->Close());
  }

  // A server that comes up again over the same store.
  void Restart() {
    Shut();
    if (open_store_) {
      Run(store_->Close());
      store_.reset();
      store_ = open_store_(clock_);
    }
    Open();
  }

  template <typename T>
  T Run(Task<T> task) {
    std::optional<T> result;
    Gate gate;
    gate.Spawn(&executor_, Store(std::move(task), &result));
    executor_.RunUntilIdle();
    while (!result) Wait();
    gate.CloseAndWait();
    return *std::move(result);
  }
  void Run(Task<void> task) {
    Gate gate;
    gate.Spawn(&executor_, std::move(task));
    executor_.RunUntilIdle();
    while (gate.active() != 0) Wait();
    gate.CloseAndWait();
  }
  void Settle() {
    executor_.RunUntilIdle();
    while (open_store_ && feed_->position() < store_->KnownRevision()) Wait();
  }
  void Advance(Duration by) {
    clock_.Advance(by, [&] { executor_.RunUntilIdle(); });
  }

  ApiResult<ObjectRef> Create(Sample sample) { return Run(pods().Create(MakeImage(sample))); }
  ApiResult<ObjectRef> Update(Sample sample, Preconditions preconditions = {}) {
    FixedChange change(Change::Kind::kPut, sample);
    return Run(
        pods().Modify(sample.ns, sample.name, {.preconditions = std::move(preconditions)}, change));
  }
  ApiResult<ObjectRef> Delete(std::string ns, std::string name, Preconditions preconditions = {}) {
    return Run(pods().Delete(std::move(ns), std::move(name), std::move(preconditions)));
  }
  ApiResult<ListResult> List(ListOptions options = {}) {
    return Run(pods().List(std::move(options)));
  }
  ApiResult<std::unique_ptr<Watcher>> Watch(ListOptions options = {}) {
    DefaultWatchOptions(options);
    return Run(pods().Watch(std::move(options)));
  }
  // What a watcher has to say now, one line per event: "ADDED default/a@5".
  std::vector<std::string> Events(Watcher& watcher) {
    std::vector<std::string> lines;
    Settle();
    for (;;) {
      auto events = watcher.Take();
      if (events.empty()) return lines;
      for (const auto& event : events) lines.push_back(Describe(event));
    }
  }
  static std::string Describe(const WatchEvent& event) {
    static constexpr const char* kNames[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    std::string line = kNames[static_cast<int>(event.type)];
    if (!event.object) return line + " " + std::string(event.text.view());
    return line + " " + DescribeObject(*event.object);
  }
  static std::string DescribeObject(const CachedObject& object) {
    return fmt::format("{}@{}", TreeOrder{}.KeyOf(object), object.revision());
  }
  static std::vector<std::string> Describe(const ListResult& list) {
    std::vector<std::string> lines;
    for (const auto& object : list.objects) lines.push_back(DescribeObject(*object));
    return lines;
  }

  ObjectStore& pods() { return *pods_; }
  CacheFeed& feed() { return *feed_; }
  kv::Store& store() { return *store_; }
  FakeClock& clock() { return clock_; }
  ManualExecutor& executor() { return executor_; }

 private:
  // For somebody else's thread, or else for time to pass.
  void Wait() {
    if (open_store_) {
      std::this_thread::yield();
      executor_.RunUntilIdle();
    } else {
      clock_.Advance(std::chrono::seconds(1), [&] { executor_.RunUntilIdle(); });
    }
  }
  template <typename T>
  static Task<void> Store(Task<T> task, std::optional<T>* result) {
    result->emplace(co_await std::move(task));
  }
  void Open() {
    feed_ = std::make_unique<CacheFeed>(store_.get(), &executor_, &clock_, feed_options_);
    pods_ = std::make_unique<ObjectStore>(pod_options_, store_.get(), feed_.get(), &clock_);
    feed_->Start();
    Settle();
  }
  void Shut() {
    Run(feed_->Stop());
    Settle();
    pods_.reset();
    feed_.reset();
  }

  FakeClock clock_;
  ManualExecutor executor_;
  RecordCodec codec_;
  const OpenStore open_store_;
  std::unique_ptr<kv::Store> store_;
  std::shared_ptr<const ResourceOptions> pod_options_;
  FeedOptions feed_options_;
  std::unique_ptr<CacheFeed> feed_;
  std::unique_ptr<ObjectStore> pods_;
};

}  // namespace keelson::storage::testing
