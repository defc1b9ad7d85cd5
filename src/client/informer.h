#pragma once

// Informer: a local copy of a resource that follows it, and handlers that hear of every change.
//
//   Informer pods({.resource = {"", "v1", "pods"}}, client, clock);
//   pods.AddHandler(controller);
//   gate.Spawn(executor, pods.Run(stop));
//   co_await pods.Synced(stop);
//   auto pod = pods.store().Get("default/web-0");
//
// It lists, then watches from the version it listed. A watch that ends or breaks is taken up where
// it was; when that version has expired, a new list begins, and what was missed comes to the
// handlers as the difference to what they know. Failures are waited out, longer and longer.
//
// Run, and with it the handlers, stays on the executor it was started on.

#include <atomic>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/completion.h"
#include "base/gate.h"
#include "base/status.h"
#include "base/task.h"
#include "client/api_client.h"
#include "client/object_store.h"
#include "client/resource_path.h"

namespace keelson::client {

// Hears of changes, in order. Must be quick: whoever has work to do puts a key into a WorkQueue.
class EventHandler {
 public:
  virtual ~EventHandler() = default;
  // `initial`: it was there when the informer first looked.
  virtual void OnAdd(const value::Document& object, bool initial) = 0;
  // Also now and then without a change, when the informer resyncs.
  virtual void OnUpdate(const value::Document& old, const value::Document& object) = 0;
  // The last that is known of it.
  virtual void OnDelete(const value::Document& object) = 0;
};

class Informer {
 public:
  struct Options {
    Resource resource;
    std::string ns;  // empty: all
    std::string label_selector;
    std::string field_selector;
    Indexers indexers;
    Duration resync = Duration::zero();  // zero: never
  };

  // Client and clock outlive it.
  Informer(Options options, ApiClient& client, Clock& clock);

  // Before Run. The handler outlives it.
  void AddHandler(EventHandler& handler) { handlers_.push_back(&handler); }

  // Until `stop` is requested. Once.
  Task<void> Run(std::stop_token stop);

  // The copy is complete as of some moment, and the handlers have heard of all in it.
  bool HasSynced() const { return synced_.load(std::memory_order_acquire); }
  // Waits for that, or for `stop`; says which.
  Task<bool> Synced(std::stop_token stop);

  const ObjectStore& store() const { return store_; }
  // The last version heard of; on Run's executor.
  const std::string& resource_version() const { return version_; }

 private:
  Task<void> Follow(std::stop_token stop);
  // Lists everything and tells the handlers what differs.
  Task<ApiResult<void>> Relist(std::stop_token stop);
  Task<ApiResult<std::vector<value::Document>>> ListAll(std::string version, std::stop_token stop);
  // Until the watch ends. `heard` says whether anything came.
  Task<ApiResult<void>> WatchOnce(std::stop_token stop, bool& heard);
  Task<void> Resync(std::stop_token stop);

  void Replace(std::vector<value::Document> objects);
  void Take(const value::Document& object, bool initial);
  void Drop(std::string_view key, const value::Document* last);
  void SetSynced();

  const Options options_;
  ApiClient& client_;
  Clock& clock_;
  ObjectStore store_;
  std::vector<EventHandler*> handlers_;
  std::string version_;         // empty: a list is due
  bool cached_list_ok_ = true;  // false once the server's cache was found to be behind
  std::atomic<bool> synced_ = false;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Completion<bool>>> waiting_;  // for the first list; under mutex_
};

}  // namespace keelson::client
