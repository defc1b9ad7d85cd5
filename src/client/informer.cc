#include "client/informer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/ids.h"
#include "base/log.h"

namespace keelson::client {

using value::Document;

namespace {

constexpr int64_t kPage = 500;
constexpr Duration kFirstPause = std::chrono::milliseconds(800);
constexpr Duration kLongestPause = std::chrono::seconds(30);
constexpr Duration kShortestWatch = std::chrono::minutes(5);

std::string VersionOf(const Document& object) {
  return std::string(object.root()["metadata"]["resourceVersion"].AsString());
}

// Between one and two times `pause`, so that those who lost the same server do not come back all at
// once.
Duration Spread(Duration pause) {
  return pause + Duration(RandomBelow(static_cast<uint64_t>(pause.count())));
}

}  // namespace

Informer::Informer(Options options, ApiClient& client, Clock& clock)
    : options_(std::move(options)), client_(client), clock_(clock), store_(options_.indexers) {}

Task<void> Informer::Run(std::stop_token stop) {
  Gate resyncing;
  std::stop_source stop_resyncing;
  if (options_.resync > Duration::zero()) {
    resyncing.Spawn(Executor::Current(), Resync(stop_resyncing.get_token()));
  }
  co_await Follow(stop);
  stop_resyncing.request_stop();
  co_await resyncing.Close();
}

Task<void> Informer::Follow(std::stop_token stop) {
  Duration pause = kFirstPause;
  while (!stop.stop_requested()) {
    ApiResult<void> done;
    bool heard = false;
    if (version_.empty()) {
      done = co_await Relist(stop);
      heard = done.has_value();
    } else {
      done = co_await WatchOnce(stop, heard);
    }
    if (heard) pause = kFirstPause;
    if (done && heard) continue;
    if (stop.stop_requested()) break;
    if (!done && IsExpired(done.error()) && !version_.empty()) {
      if (log::V(4)) {
        log::InfoS("The watched version is gone, listing anew",
                   {{"resource", options_.resource.plural}});
      }
      version_.clear();
      cached_list_ok_ = false;
      continue;
    }
    if (!done) {
      log::ErrorS("Failed to follow a resource",
                  {{"resource", options_.resource.plural}, {"err", done.error().message}});
    }
    Duration wait = Spread(pause);
    if (!done && done.error().details && done.error().details->retry_after_seconds > 0) {
      wait =
          std::max<Duration>(wait, std::chrono::seconds(done.error().details->retry_after_seconds));
    }
    co_await SleepFor(clock_, wait, stop);
    pause = std::min(pause * 2, kLongestPause);
  }
}

Task<ApiResult<std::vector<Document>>> Informer::ListAll(std::string version,
                                                         std::stop_token stop) {
  std::vector<Document> objects;
  // A cache answers at once and whole; what comes from the store comes in pages.
  ListOptions options{.resource_version = version,
                      .label_selector = options_.label_selector,
                      .field_selector = options_.field_selector,
                      .limit = version == "0" ? 0 : kPage};
  for (;;) {
    auto list = co_await client_.List(options_.resource, options_.ns, options, stop);
    if (!list) {
      if (!options.continue_token.empty() && IsExpired(list.error())) {
        // The pages outlived their version: all at once, then.
        objects.clear();
        options.continue_token.clear();
        options.limit = 0;
        continue;
      }
      co_return std::unexpected(std::move(list).error());
    }
    for (const auto& item : list->root()["items"].items()) objects.push_back(list->Part(item));
    options.continue_token = list->root()["metadata"]["continue"].AsString();
    if (!options.continue_token.empty()) continue;
    version_ = VersionOf(*list);
    co_return objects;
  }
}

Task<ApiResult<void>> Informer::Relist(std::stop_token stop) {
  auto objects = co_await ListAll(cached_list_ok_ ? "0" : "", stop);
  if (!objects) co_return std::unexpected(std::move(objects).error());
  if (version_.empty()) co_return std::unexpected(InternalErrorStatus("a list without a version"));
  cached_list_ok_ = true;
  Replace(*std::move(objects));
  SetSynced();
  co_return ApiResult<void>();
}

Task<ApiResult<void>> Informer::WatchOnce(std::stop_token stop, bool& heard) {
  CO_TRY(auto events, co_await client_.Watch(options_.resource, options_.ns,
                                             {.resource_version = version_,
                                              .label_selector = options_.label_selector,
                                              .field_selector = options_.field_selector,
                                              .timeout = Spread(kShortestWatch)},
                                             stop));
  for (;;) {
    CO_TRY(auto event, co_await events.Next());
    if (!event) co_return ApiResult<void>();
    heard = true;
    switch (event->type) {
      case WatchEvent::Type::kAdded:
      case WatchEvent::Type::kModified:
        Take(event->object, /*initial=*/false);
        break;
      case WatchEvent::Type::kDeleted:
        Drop(KeyOf(event->object.root()), &event->object);
        break;
      case WatchEvent::Type::kBookmark:
        break;
    }
    if (auto version = VersionOf(event->object); !version.empty()) version_ = std::move(version);
  }
}

Task<void> Informer::Resync(std::stop_token stop) {
  while (co_await SleepFor(clock_, options_.resync, stop)) {
    for (const auto& object : store_.List()) {
      for (auto* handler : handlers_) handler->OnUpdate(object, object);
    }
  }
}

void Informer::Replace(std::vector<Document> objects) {
  std::set<std::string> present;
  for (const auto& object : objects) present.insert(KeyOf(object.root()));
  for (const auto& key : store_.Keys()) {
    if (!present.contains(key)) Drop(key, nullptr);
  }
  const bool initial = !HasSynced();
  for (const auto& object : objects) Take(object, initial);
}

void Informer::Take(const Document& object, bool initial) {
  const auto old = store_.Put(object);
  if (!old) {
    for (auto* handler : handlers_) handler->OnAdd(object, initial);
  } else if (VersionOf(*old) != VersionOf(object)) {
    for (auto* handler : handlers_) handler->OnUpdate(*old, object);
  }
}

void Informer::Drop(std::string_view key, const Document* last) {
  const auto old = store_.Remove(key);
  if (!old) return;
  for (auto* handler : handlers_) handler->OnDelete(last != nullptr ? *last : *old);
}

void Informer::SetSynced() {
  std::vector<std::shared_ptr<Completion<bool>>> waiting;
  {
    std::lock_guard lock(mutex_);
    synced_.store(true, std::memory_order_release);
    waiting.swap(waiting_);
  }
  for (const auto& one : waiting) one->Set(true);
}

Task<bool> Informer::Synced(std::stop_token stop) {
  auto reached = Completion<bool>::Create();
  {
    std::lock_guard lock(mutex_);
    if (HasSynced()) co_return true;
    waiting_.push_back(reached);
  }
  const std::stop_callback on_stop(stop, [reached] { reached->Set(false); });
  co_return co_await Completion<bool>::Wait(reached);
}

}  // namespace keelson::client
