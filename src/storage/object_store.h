#pragma once

// ObjectStore: the objects of one resource, as the verbs see them.
//
// Reads come from the watch cache, at the version that upstream documents for each combination of
// options; writes go to the store and are compared on what they started from. Answers are cached
// objects: finished bytes, shared, never parsed. All calls from any thread; Watch from the thread
// that will consume it. Failures are the Status to answer with, in upstream's words.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/task.h"
#include "kv/store.h"
#include "storage/cache_feed.h"
#include "storage/lease_pool.h"
#include "storage/list_options.h"
#include "storage/resource.h"
#include "storage/watcher.h"

namespace keelson::storage {

struct ListResult {
  std::vector<ObjectRef> objects;  // in key order
  Revision revision = 0;
  std::string continue_token;        // empty: this is the end
  std::optional<int64_t> remaining;  // how many follow, when that is known

  // The items of a JSON list, separated by commas, without copying an object. Takes them out.
  void TakeItems(std::vector<Slice>& out);
};

struct Preconditions {
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
};

// What to do with an object, decided on its current state.
struct Change {
  enum class Kind : uint8_t { kPut, kRemove, kKeep };
  Kind kind = Kind::kKeep;
  ObjectImage image;            // for kPut
  std::chrono::seconds ttl{0};  // for kPut; 0 is for ever
};

// Decides on a change. It is asked again, with the newer state, when somebody else was faster or
// when the state it was first asked about proves outdated; so it must not remember.
class Changer {
 public:
  virtual ~Changer() = default;
  // `current` is empty when there is no such object and ChangeOptions::may_create was set.
  virtual Task<ApiResult<Change>> Decide(ObjectRef current) = 0;
};

struct ChangeOptions {
  Preconditions preconditions;
  bool may_create = false;
};

class ObjectStore {
 public:
  // `feed` outlives it.
  ObjectStore(std::shared_ptr<const ResourceOptions> resource, kv::Store* store, CacheFeed* feed,
              Clock* clock);
  ~ObjectStore();

  // The options must have passed ValidateOptions; watches also DefaultWatchOptions.
  Task<ApiResult<ObjectRef>> Get(std::string ns, std::string name,
                                 std::string resource_version = {});
  // The object as the cache has it at this moment; empty when it has none, or is not filled. For
  // readers to whom a state of a moment ago is as good, and who ask again with Get when it is not
  // there.
  ObjectRef Cached(std::string_view ns, std::string_view name);
  Task<ApiResult<ListResult>> List(ListOptions options);
  // A request that upstream answers within the stream gives a watcher that does.
  Task<ApiResult<std::unique_ptr<Watcher>>> Watch(ListOptions options);

  Task<ApiResult<ObjectRef>> Create(ObjectImage image, std::chrono::seconds ttl = {});
  // Applies what `changer` decides. The object as it is then: of a removed one the last state at
  // its removal's revision. A put that changes nothing writes nothing.
  Task<ApiResult<ObjectRef>> Modify(std::string ns, std::string name, ChangeOptions options,
                                    Changer& changer);
  // Removes the object if the preconditions hold.
  Task<ApiResult<ObjectRef>> Delete(std::string ns, std::string name,
                                    Preconditions preconditions = {});

  // How many objects there are; cheap when the cache is filled.
  Task<ApiResult<int64_t>> Count();

  const ResourceOptions& resource() const { return *resource_; }
  WatchCache& cache() { return *cache_; }

 private:
  struct Origin;  // what a change starts from

  std::string KeyOf(std::string_view ns, std::string_view name) const;
  Status StoreFailure(const Error& error, std::string_view verb) const;
  Status TooOldToWatch(const Error& error, Revision revision) const;

  Task<ApiResult<ObjectRef>> GetFromStore(std::string ns, std::string name,
                                          Revision not_older_than);
  Task<ApiResult<void>> WaitUntilCurrent();
  Task<ApiResult<ListResult>> ListLatest(ListOptions options, std::string start);
  Task<ApiResult<ListResult>> ListExact(ListOptions options, std::string start, Revision revision,
                                        bool continued);
  Task<ApiResult<ListResult>> ListFromStore(ListOptions options, std::string start,
                                            Revision revision, bool continued);
  Task<ApiResult<Origin>> ReadOrigin(std::string key, std::string name, bool may_create);
  ApiResult<Origin> MakeOrigin(const std::string& key, const kv::KeyValue& item, Revision seen_at,
                               std::string_view name, bool may_create) const;
  std::optional<kv::KeyValue> StateOf(const std::string& key, const Origin& origin) const;
  Task<ApiResult<std::optional<ObjectRef>>> Apply(std::string key, Origin& origin, Change change);

  const std::shared_ptr<const ResourceOptions> resource_;
  kv::Store* const store_;
  CacheFeed* const feed_;
  const std::shared_ptr<WatchCache> cache_;
  LeasePool leases_;
  std::atomic<uint32_t> cold_reads_{0};
};

}  // namespace keelson::storage
