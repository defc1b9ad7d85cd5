// Reading: which state answers a get, a list or a watch.
//
//   resourceVersion   get                     list                       watch
//   unset             the latest state        the latest state           the latest state, then
//   changes "0"               any state               any state, no paging       any state, then
//   changes N                 at least N              at least N; with a limit   changes after N
//                                             exactly N
//
// resourceVersionMatch says which of "at least" and "exactly" is meant. The latest state is the
// cache's once it has reached the store's current revision.

#include <algorithm>
#include <map>

#include "storage/continue_token.h"
#include "storage/list_collector.h"
#include "storage/object_store.h"
#include "storage/resource_keys.h"

namespace keelson::storage {
namespace {

constexpr std::string_view kListExpired = "The resourceVersion for the provided list is too old.";
constexpr std::string_view kWatchExpired = "The resourceVersion for the provided watch is too old.";
constexpr std::string_view kContinueExpired =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a "
    "new list without the continue parameter, or use the continue token in this response to "
    "retrieve "
    "the remainder of the results. Continuing with the provided token results in an inconsistent "
    "list "
    "- objects that were created, modified, or deleted between the time the first chunk was "
    "returned "
    "and now may show up in the list.";

// A resource that is only read by name is filled after so many reads.
constexpr uint32_t kColdReads = 8;
// Undoing more changes than this costs more than reading the old state from the store.
constexpr size_t kMaxUndone = 20000;
constexpr size_t kMaxUndoneBatches = 20000;

// What upstream answers to a version it cannot parse outside of lists: no reason, code 500.
Status UnparsableVersion(const Error& error) { return {.code = 500, .message = error.message}; }

Status Reinitializing() { return TooManyRequestsStatus("storage is (re)initializing", 1); }

// The objects that changed after a revision, as they were at it; nullptr for those that were not
// there. nullopt when the log does not reach back so far, or too much has changed.
using Undo = std::map<std::string, const CachedObject*, std::less<>>;
std::optional<Undo> Undone(const std::vector<EventBatchRef>& batches, Revision after,
                           Revision up_to, const ListRange& range) {
  Undo undo;
  for (const auto& batch : batches) {
    for (const auto& event : batch->events) {
      if (event.revision <= after || event.revision > up_to) continue;
      auto key = TreeOrder{}.KeyOf(*event.object);
      if (key < range.from || !range.Contains(key)) continue;
      undo.emplace(std::move(key), event.previous.get());  // the first change tells what was
      if (undo.size() > kMaxUndone) return std::nullopt;
    }
  }
  return undo;
}

}  // namespace

Task<ApiResult<void>> ObjectStore::WaitUntilCurrent() {
  auto current = co_await store_->CurrentRevision();
  if (!current) co_return std::unexpected(StoreFailure(current.error(), "get"));
  if (feed_->position() >= *current) co_return ApiResult<void>();
  co_return co_await feed_->WaitUntilFresh(*current);
}

Task<ApiResult<ObjectRef>> ObjectStore::Get(std::string ns, std::string name,
                                            std::string resource_version) {
  auto wanted = ParseResourceVersion(resource_version);
  if (!wanted) co_return std::unexpected(UnparsableVersion(wanted.error()));
  cache_->Touch();
  if (!cache_->ready()) {
    bool often = cold_reads_.fetch_add(1, std::memory_order_relaxed) >= kColdReads;
    if (*wanted == 0 && !often) co_return co_await GetFromStore(std::move(ns), std::move(name), 0);
    if (auto filled = co_await feed_->EnsureFilled(cache_); !filled) {
      co_return co_await GetFromStore(std::move(ns), std::move(name), *wanted);
    }
  }
  auto fresh = resource_version.empty() ? co_await WaitUntilCurrent()
                                        : co_await feed_->WaitUntilFresh(*wanted);
  if (!fresh) {
    if (!resource_version.empty()) co_return std::unexpected(std::move(fresh).error());
    co_return co_await GetFromStore(std::move(ns), std::move(name), 0);
  }
  auto snapshot = cache_->snapshot();
  if (!snapshot) co_return co_await GetFromStore(std::move(ns), std::move(name), *wanted);
  const auto* object = snapshot->objects().Find(RelativeKey(ns, name));
  if (object == nullptr) co_return std::unexpected(NotFoundStatus(resource_->resource, name));
  co_return ObjectRef::Share(object);
}

Task<ApiResult<ObjectRef>> ObjectStore::GetFromStore(std::string ns, std::string name,
                                                     Revision not_older_than) {
  auto key = KeyOf(ns, name);
  auto got = co_await store_->Get(key);
  if (!got) co_return std::unexpected(StoreFailure(got.error(), "get"));
  if (got->revision < not_older_than) {
    co_return std::unexpected(TooLargeResourceVersion(not_older_than, got->revision, 0));
  }
  if (!got->item) co_return std::unexpected(NotFoundStatus(resource_->resource, name));
  auto object = cache_->Decode(key, got->item->value, got->item->mod_revision);
  if (!object) co_return std::unexpected(InternalErrorStatus(object.error().message));
  co_return *std::move(object);
}

Task<ApiResult<ListResult>> ObjectStore::List(ListOptions options) {
  std::string start;
  Revision exactly = 0;
  bool continued = !options.continue_token.empty();
  if (continued) {
    auto point = DecodeContinue(options.continue_token);
    if (!point) {
      co_return std::unexpected(
          BadRequestStatus("invalid continue token: " + point.error().message));
    }
    if (!options.resource_version.empty() && options.resource_version != "0") {
      co_return std::unexpected(
          BadRequestStatus("specifying resource version is not allowed when using continue"));
    }
    start = std::move(point->start);
    exactly = std::max<Revision>(point->revision, 0);
    options.resource_version.clear();  // without one: at the token's revision, or the latest
  }
  auto wanted = ParseResourceVersion(options.resource_version);
  if (!wanted) {
    co_return std::unexpected(
        BadRequestStatus("invalid resource version: " + wanted.error().message));
  }
  if (options.resource_version_match == "Exact") exactly = *wanted;
  bool names_one = !options.name.empty() || options.fields.RequiredValue("metadata.name");
  if (options.resource_version_match.empty() && options.limit > 0 && *wanted > 0 && !names_one) {
    exactly = *wanted;  // a limit without a match has always meant exactly
  }
  if (auto filled = co_await feed_->EnsureFilled(cache_); !filled) {
    co_return std::unexpected(std::move(filled).error());
  }
  if (exactly > 0) {
    co_return co_await ListExact(std::move(options), std::move(start), exactly, continued);
  }
  auto fresh = options.resource_version.empty() ? co_await WaitUntilCurrent()
                                                : co_await feed_->WaitUntilFresh(*wanted);
  if (!fresh) {
    if (!options.resource_version.empty()) co_return std::unexpected(std::move(fresh).error());
    co_return co_await ListFromStore(std::move(options), std::move(start), 0, continued);
  }
  co_return co_await ListLatest(std::move(options), std::move(start));
}

Task<ApiResult<ListResult>> ObjectStore::ListLatest(ListOptions options, std::string start) {
  const Revision position = feed_->position();
  auto snapshot = cache_->snapshot();
  if (!snapshot) {
    bool continued = !options.continue_token.empty();
    co_return co_await ListFromStore(std::move(options), std::move(start), 0, continued);
  }
  // A list at any version is not paged, as it would not be at one version.
  const int64_t limit = options.resource_version == "0" ? 0 : std::max<int64_t>(options.limit, 0);
  ListRange range(*resource_, options, std::move(start));
  ListCollector page(*resource_, options, limit);
  const Revision revision = std::max(position, snapshot->revision());

  for (size_t i = 0; i < resource_->indexed_fields.size(); ++i) {
    const int field = resource_->indexed_fields[i];
    auto value = options.fields.RequiredValue(resource_->fields[static_cast<size_t>(field)]);
    if (!value || limit > 0) continue;
    TreeOrder order{field};
    auto cursor = snapshot->index(i).Seek(order.Bound(*value, range.from));
    auto end =
        range.to.empty() ? order.Bound(std::string(*value) + '\1') : order.Bound(*value, range.to);
    for (; cursor.valid() && order.KeyOf(*cursor.object()) < end; cursor.Next()) {
      page.Offer(cursor.object());
    }
    co_return std::move(page).Finish(range, revision, false, 0);
  }

  auto objects = snapshot->objects();
  const auto in_range = static_cast<int64_t>(objects.Count(range.from, range.to));
  int64_t offered = 0;
  for (auto cursor = objects.Seek(range.from); offered < in_range && !page.full(); cursor.Next()) {
    page.Offer(cursor.object());
    ++offered;
  }
  co_return std::move(page).Finish(range, revision, offered < in_range, in_range);
}

Task<ApiResult<ListResult>> ObjectStore::ListExact(ListOptions options, std::string start,
                                                   Revision revision, bool continued) {
  if (auto fresh = co_await feed_->WaitUntilFresh(revision); !fresh) {
    co_return std::unexpected(std::move(fresh).error());
  }
  auto snapshot = cache_->snapshot();
  std::optional<std::vector<EventBatchRef>> batches;
  std::optional<Undo> undo;
  ListRange range(*resource_, options, start);
  if (snapshot && snapshot->revision() <= revision) {
    undo.emplace();
  } else if (snapshot) {
    // The state then is the state now with the changes since undone.
    batches = cache_->hub().log().After(revision, kMaxUndoneBatches);
    if (batches && batches->size() < kMaxUndoneBatches) {
      undo = Undone(*batches, revision, snapshot->revision(), range);
    }
  }
  if (!undo) {
    co_return co_await ListFromStore(std::move(options), std::move(start), revision, continued);
  }
  auto objects = snapshot->objects();
  auto in_range = static_cast<int64_t>(objects.Count(range.from, range.to));
  for (const auto& [key, then] : *undo) {
    in_range += (then != nullptr ? 1 : 0) - (objects.Find(key) != nullptr ? 1 : 0);
  }
  ListCollector page(*resource_, options, std::max<int64_t>(options.limit, 0));
  int64_t offered = 0;
  auto changed = undo->begin();
  auto cursor = objects.Seek(range.from);
  while (offered < in_range && !page.full()) {
    const CachedObject* next = nullptr;
    std::string key;
    if (cursor.valid()) key = TreeOrder{}.KeyOf(*cursor.object());
    bool take_changed = changed != undo->end() && (!cursor.valid() || changed->first <= key);
    if (take_changed) {
      if (cursor.valid() && changed->first == key) cursor.Next();
      next = (changed++)->second;
      if (next == nullptr) continue;
    } else {
      next = cursor.object();
      cursor.Next();
    }
    page.Offer(next);
    ++offered;
  }
  co_return std::move(page).Finish(range, revision, offered < in_range, in_range);
}

// The way past the cache: a state that the log no longer reaches, or a cache that is not to be had.
Task<ApiResult<ListResult>> ObjectStore::ListFromStore(ListOptions options, std::string start,
                                                       Revision revision, bool continued) {
  constexpr int64_t kPage = 1000;
  ListRange range(*resource_, options, start);
  ListCollector page(*resource_, options, std::max<int64_t>(options.limit, 0));
  const auto& prefix = cache_->key_prefix();
  kv::RangeRequest request{
      .range = {prefix + range.from,
                range.to.empty() ? kv::KeyRange::Prefix(prefix).end : prefix + range.to},
      .revision = revision,
      .limit = options.limit > 0 && page.selects_all() ? options.limit : kPage,
      .want_count = options.limit > 0 && page.selects_all()};
  int64_t in_range = 0;
  bool more = true;
  while (more && !page.full()) {
    auto read = co_await store_->Range(request);
    if (!read) {
      if (read.error().code != ErrorCode::kExpired) {
        co_return std::unexpected(StoreFailure(read.error(), "list"));
      }
      Status expired = ExpiredStatus(std::string(continued ? kContinueExpired : kListExpired));
      if (continued) {
        auto from = request.range.start.substr(prefix.size() + range.prefix.size());
        expired.continue_token = EncodeContinue(kContinueAtLatest, from);
      }
      co_return std::unexpected(std::move(expired));
    }
    if (request.revision == 0) request.revision = read->revision;
    if (request.want_count) in_range = read->count;
    request.want_count = false;
    auto snapshot = cache_->snapshot();
    more = read->more;
    for (size_t i = 0; i < read->items.size() && !page.full(); ++i) {
      const auto& item = read->items[i];
      auto key = item.key.view();
      // What has not changed since is in the cache, ready to be served.
      const auto* cached = snapshot ? snapshot->objects().Find(key.substr(prefix.size())) : nullptr;
      if (cached != nullptr && cached->revision() == item.mod_revision) {
        page.Offer(cached);
      } else {
        auto object = cache_->Decode(key, item.value, item.mod_revision);
        if (!object) co_return std::unexpected(InternalErrorStatus(object.error().message));
        page.Offer(object->get());
      }
      if (page.full() && i + 1 < read->items.size()) more = true;
    }
    if (!read->items.empty()) {
      request.range.start = std::string(read->items.back().key.view()) + '\0';
    }
  }
  co_return std::move(page).Finish(range, request.revision, more, in_range);
}

// Why there is no history to resume a watch from.
Status ObjectStore::TooOldToWatch(const Error& error, Revision revision) const {
  const bool compacted = error.code == ErrorCode::kExpired;
  if (!compacted && error.code != ErrorCode::kTooLarge) return Reinitializing();
  if (!resource_->cached_upstream) return ExpiredStatus(std::string(kWatchExpired));
  const Revision oldest = compacted ? store_->CompactedRevision() : cache_->hub().log().start();
  return ExpiredStatus(fmt::format("too old resource version: {} ({})", revision, oldest));
}

Task<ApiResult<std::unique_ptr<Watcher>>> ObjectStore::Watch(ListOptions options) {
  auto wanted = ParseResourceVersion(options.resource_version);
  if (!wanted) co_return std::unexpected(UnparsableVersion(wanted.error()));
  if (auto filled = co_await feed_->EnsureFilled(cache_); !filled) {
    co_return std::unexpected(std::move(filled).error());
  }
  Executor* executor = Executor::Current();
  KEELSON_CHECK(executor != nullptr);
  const bool initial = options.send_initial_events.value_or(*wanted == 0);
  if (initial || options.resource_version.empty()) {
    auto fresh = options.resource_version.empty() ? co_await WaitUntilCurrent()
                                                  : co_await feed_->WaitUntilFresh(*wanted);
    if (!fresh) co_return std::make_unique<Watcher>(fresh.error());
  }
  const uint64_t generation = cache_->hub().generation();
  const Revision position = feed_->position();
  auto snapshot = cache_->snapshot();
  if (!snapshot) co_return std::unexpected(Reinitializing());
  Watcher::Start from{.revision = *wanted};
  if (initial || *wanted == 0) from.revision = std::max(position, snapshot->revision());
  if (initial) {
    ListRange range(*resource_, options, {});
    ListCollector page(*resource_, options, 0);
    auto cursor = snapshot->objects().Seek(range.from);
    auto count = snapshot->objects().Count(range.from, range.to);
    for (; count > 0; --count, cursor.Next()) page.Offer(cursor.object());
    from.initial = std::move(page).Finish(range, from.revision, false, 0).objects;
    if (options.allow_bookmarks && options.send_initial_events.value_or(false)) {
      from.initial_end = cache_->hub().Bookmark(from.revision, true);
    }
  } else if (from.revision < cache_->hub().log().start()) {
    if (auto reached = co_await feed_->ReachBack(cache_, from.revision); !reached) {
      co_return std::make_unique<Watcher>(TooOldToWatch(reached.error(), from.revision));
    }
  }
  auto group = cache_->hub().Join(executor, generation);
  if (group == nullptr) co_return std::unexpected(Reinitializing());
  co_return std::make_unique<Watcher>(std::move(group), options, std::move(from));
}

Task<ApiResult<int64_t>> ObjectStore::Count() {
  if (auto snapshot = cache_->snapshot()) {
    co_return static_cast<int64_t>(snapshot->objects().size());
  }
  auto counted = co_await store_->Range({.range = kv::KeyRange::Prefix(cache_->key_prefix()),
                                         .count_only = true,
                                         .want_count = true});
  if (!counted) co_return std::unexpected(StoreFailure(counted.error(), "list"));
  co_return counted->count;
}

}  // namespace keelson::storage
