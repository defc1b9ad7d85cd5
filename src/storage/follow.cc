#include "storage/follow.h"

#include <chrono>
#include <string>
#include <utility>

#include "base/log.h"

namespace keelson::storage {
namespace {

constexpr Duration kRetry = std::chrono::seconds(1);

Task<ApiResult<void>> FollowOnce(ObjectStore& store, Follower& follower, std::stop_token stop) {
  auto list = co_await store.List({});
  if (!list) co_return std::unexpected(std::move(list).error());
  follower.Replace(list->objects);
  ListOptions from{.resource_version = std::to_string(list->revision)};
  list = ListResult();
  auto watcher = co_await store.Watch(std::move(from));
  if (!watcher) co_return std::unexpected(std::move(watcher).error());
  for (;;) {
    const auto events = co_await (*watcher)->Next(stop);
    if (events.empty()) co_return ApiResult<void>();
    for (const auto& event : events) {
      if (event.type == WatchEvent::Type::kError) co_return ApiResult<void>();
    }
    follower.Apply(events);
  }
}

}  // namespace

Task<void> Follow(ObjectStore& store, Follower& follower, Clock& clock, std::stop_token stop) {
  while (!stop.stop_requested()) {
    auto followed = co_await FollowOnce(store, follower, stop);
    if (followed || stop.stop_requested()) continue;
    log::WarningS(
        "Failed to follow a resource",
        {{"resource", store.resource().resource.ToString()}, {"err", followed.error().message}});
    co_await SleepFor(clock, kRetry, stop);
  }
}

}  // namespace keelson::storage
