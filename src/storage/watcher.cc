#include "storage/watcher.h"

#include <algorithm>
#include <iterator>

#include "storage/resource_keys.h"

namespace keelson::storage {

std::string_view FrameOpening(WatchEvent::Type type) {
  static constexpr std::string_view kOpen[] = {
      R"({"type":"ADDED","object":)", R"({"type":"MODIFIED","object":)",
      R"({"type":"DELETED","object":)", R"({"type":"BOOKMARK","object":)",
      R"({"type":"ERROR","object":)"};
  return kOpen[static_cast<size_t>(type)];
}

void AppendFrame(const WatchEvent& event, std::vector<Slice>& out) {
  out.push_back(Slice::Static(FrameOpening(event.type)));
  out.push_back(event.object ? event.object->Json() : event.text);
  out.push_back(Slice::Static("}\n"));
}

Watcher::Watcher(std::shared_ptr<WatchGroup> group, const ListOptions& options, Start start)
    : group_(std::move(group)),
      ns_(options.ns),
      name_(options.name),
      predicate_(group_->hub().resource(), options.labels, options.fields),
      initial_(std::move(start.initial)),
      initial_end_(std::move(start.initial_end)),
      cursor_(start.revision),
      bookmarks_(options.allow_bookmarks),
      deadline_(options.deadline) {
  const auto& resource = group_->hub().resource();
  if (ns_.empty() && resource.namespaced) {
    ns_ = std::string(options.fields.RequiredValue("metadata.namespace").value_or(""));
  }
  if (name_.empty())
    name_ = std::string(options.fields.RequiredValue("metadata.name").value_or(""));
  for (size_t i = 0; i < resource.indexed_fields.size(); ++i) {
    const auto& field = resource.fields[static_cast<size_t>(resource.indexed_fields[i])];
    if (auto value = options.fields.RequiredValue(field)) {
      indexed_field_ = static_cast<int>(i);
      index_value_ = std::string(*value);
      break;
    }
  }
  group_->Add(this);
}

Watcher::Watcher(const Status& error) : behind_(false), ended_(true) {
  queue_.push_back({WatchEvent::Type::kError, {}, Slice::Own(error.ToJson())});
}

Watcher::~Watcher() {
  if (group_ != nullptr) group_->Remove(this);
}

Task<std::vector<WatchEvent>> Watcher::Next(std::stop_token stop) {
  for (;;) {
    auto events = Take();
    if (!events.empty() || ended_ || stop.stop_requested()) co_return events;
    auto waiting = Completion<bool>::Create();
    waiting_ = waiting;
    std::stop_callback on_stop(stop, [waiting] { waiting->Set(false); });
    co_await Completion<bool>::Wait(waiting);
  }
}

std::vector<WatchEvent> Watcher::Take() {
  while (queue_.empty() && !ended_ && !AtRest()) Refill();
  queued_bytes_ = 0;
  return std::exchange(queue_, {});
}

// Fetches more for a consumer that has taken everything: first the initial objects, then their end,
// then what the log holds.
void Watcher::Refill() {
  if (!initial_.empty()) {
    size_t end = std::min(initial_.size(), initial_sent_ + kInitialChunk);
    for (; initial_sent_ < end; ++initial_sent_) {
      queue_.push_back({WatchEvent::Type::kAdded, std::move(initial_[initial_sent_]), {}});
    }
    if (initial_sent_ == initial_.size()) initial_ = {};
    return;
  }
  if (initial_end_) {
    queue_.push_back({WatchEvent::Type::kBookmark, {}, *std::exchange(initial_end_, std::nullopt)});
    return;
  }
  Replay();
}

void Watcher::Replay() {
  constexpr size_t kBatches = 32;
  auto batches = group_->hub().log().After(cursor_, kBatches);
  if (!batches) {
    group_->hub().dropped_.fetch_add(1, std::memory_order_relaxed);
    ended_ = true;
    return;
  }
  behind_ = false;
  for (const auto& batch : *batches) {
    const Revision from = cursor_;
    for (const auto& event : batch->events) {
      if (event.revision > from && InScope(*event.object)) Consider(event);
      if (behind_) return;
    }
    cursor_ = std::max(cursor_, batch->revision);
  }
  behind_ = batches->size() == kBatches;
  live_from_ = cursor_;
}

bool Watcher::InScope(const CachedObject& object) const {
  return (ns_.empty() || object.ns() == ns_) && (name_.empty() || object.name() == name_);
}

// Turns a change of an object into what this watcher's selection went through. The cursor moves
// with revisions, not with events: a transaction may change several objects.
void Watcher::Consider(const Event& event) {
  bool full = queue_.size() >= kMaxQueued || queued_bytes_ >= kMaxQueuedBytes;
  if (full && event.revision > cursor_) {
    behind_ = true;
    return;
  }
  cursor_ = event.revision;
  if (predicate_.empty()) {
    Push({event.deleted    ? WatchEvent::Type::kDeleted
          : event.previous ? WatchEvent::Type::kModified
                           : WatchEvent::Type::kAdded,
          event.object,
          {}});
    return;
  }
  bool now = !event.deleted && predicate_.Matches(*event.object);
  bool before = event.previous && predicate_.Matches(*event.previous);
  if (now) {
    Push({before ? WatchEvent::Type::kModified : WatchEvent::Type::kAdded, event.object, {}});
  } else if (before) {
    Push({WatchEvent::Type::kDeleted, event.Departed(), {}});
  }
}

void Watcher::Push(WatchEvent event) {
  queued_bytes_ += event.object ? event.object->footprint() : event.text.size();
  queue_.push_back(std::move(event));
  if (waiting_ != nullptr) group_->woken_.push_back(std::move(waiting_));
}

WatchHub::WatchHub(std::shared_ptr<const ResourceOptions> resource, EventLog::Limits limits,
                   Clock* clock, std::shared_ptr<const std::atomic<Revision>> progress)
    : resource_(std::move(resource)), clock_(clock), progress_(std::move(progress)), log_(limits) {}

std::vector<std::shared_ptr<WatchGroup>> WatchHub::Append(EventBatchRef batch) {
  // Whoever joins sees the log either before this batch and is offered it, or with it and is not.
  std::lock_guard lock(mutex_);
  log_.Append(std::move(batch));
  std::vector<std::shared_ptr<WatchGroup>> groups;
  groups.reserve(groups_.size());
  for (const auto& [executor, group] : groups_) groups.push_back(group);
  return groups;
}

void WatchHub::EndAll() {
  decltype(groups_) groups;
  {
    std::lock_guard lock(mutex_);
    groups.swap(groups_);
    generation_.fetch_add(1, std::memory_order_release);
  }
  for (const auto& [executor, group] : groups) group->End();
}

std::shared_ptr<WatchGroup> WatchHub::Join(Executor* executor, uint64_t generation) {
  std::lock_guard lock(mutex_);
  if (generation_.load(std::memory_order_relaxed) != generation) return nullptr;
  auto found = std::ranges::find(groups_, executor, [](const auto& entry) { return entry.first; });
  if (found != groups_.end()) return found->second;
  auto group = std::make_shared<WatchGroup>(shared_from_this(), executor);
  groups_.emplace_back(executor, group);
  return group;
}

void WatchHub::Forget(const WatchGroup* group) {
  std::lock_guard lock(mutex_);
  std::erase_if(groups_, [&](const auto& entry) { return entry.second.get() == group; });
}

Slice WatchHub::Bookmark(Revision revision, bool initial_events_end) const {
  std::string text = resource_->bookmark_before;
  text += fmt::format(R"("resourceVersion":"{}")", revision);
  if (initial_events_end) text += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
  text += resource_->bookmark_after;
  return Slice::Own(std::move(text));
}

}  // namespace keelson::storage
