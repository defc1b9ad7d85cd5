#include "apiextensions/definitions.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/apiextensions_v1.h"
#include "apiextensions/conditions.h"
#include "apiextensions/strategies.h"
#include "base/log.h"
#include "crypto/digest.h"
#include "rest/write.h"
#include "value/json.h"

namespace keelson::apiextensions {
namespace {

using storage::ObjectRef;
using storage::WatchEvent;
using value::Document;
using value::Value;

constexpr Duration kRetry = std::chrono::seconds(1);
// How many objects of a dying definition are removed at once.
constexpr size_t kRemovals = 64;

// The server's own writes are not for admission to judge.
rest::ResourceSpec PastAdmission(const rest::ResourceSpec& spec) {
  auto own = spec;
  own.admission = nullptr;
  return own;
}

// A change that the server makes itself.
template <typename Edit>
class Editing final : public rest::Mutation {
 public:
  explicit Editing(Edit edit) : edit_(std::move(edit)) {}
  ApiResult<Document> Mutate(const Document* live) override {
    value::Builder builder(*live);
    if (!edit_(builder.root())) return *live;
    return std::move(builder).Finish();
  }

 private:
  Edit edit_;
};

template <typename Edit>
Task<ApiResult<void>> EditDefinition(rest::ResourceSpec spec, std::string name, Edit edit) {
  const rest::WriteScope scope{
      .name = name,
      .subresource = spec.subresource != nullptr ? spec.subresource->name : "",
      .now = spec.clock->WallNow(),
      .manager = "kube-apiserver"};
  Editing<Edit> editing(std::move(edit));
  auto written = co_await rest::ChangeObject(spec, scope, editing);
  // Who is gone needs no change.
  if (!written && written.error().code != 404) co_return std::unexpected(written.error());
  co_return ApiResult<void>();
}

bool HasCleanupFinalizer(const Value& root) {
  const Value finalizers = root["metadata"]["finalizers"];
  return std::ranges::any_of(
      finalizers.items(), [](const Value& item) { return item.AsString() == kCleanupFinalizer; });
}

bool IsDying(const Value& root) {
  return !root["metadata"]["deletionTimestamp"].is_null() && HasCleanupFinalizer(root);
}

bool RemoveFinalizer(value::Ref definition) {
  const Value finalizers = definition.Get()["metadata"]["finalizers"];
  for (size_t i = 0; i < finalizers.items().size(); ++i) {
    if (finalizers.items()[i].AsString() != kCleanupFinalizer) continue;
    value::Ref metadata = definition.Field("metadata");
    if (finalizers.size() == 1) {
      metadata.RemoveField("finalizers");
    } else {
      metadata.Field("finalizers").RemoveItem(i);
    }
    return true;
  }
  return false;
}

// All that a kind is made from, in short.
std::string ShapeOf(const Value& root) {
  std::string text = IsConditionTrue(root, kEstablished) ? "E" : "";
  text += root["metadata"]["uid"].AsString();
  value::AppendJson(text, root["spec"]);
  value::AppendJson(text, root["status"]["acceptedNames"]);
  return crypto::Digest(crypto::Hash::kSha256, text);
}

}  // namespace

Definitions::Definitions(const DefinitionResources& resources, const KindParts& parts,
                         Routes& routes, Executor& executor)
    : resources_(resources), parts_(parts), routes_(routes), executor_(executor) {}

Definitions::~Definitions() = default;

Task<Result<void>> Definitions::WaitUntilSynced() {
  co_await synced_->Wait();
  co_return Result<void>();
}

Result<void> Definitions::AddHooks(server::GenericApiServer& server) {
  TRY_VOID(server.RegisterMuxAndDiscoveryCompleteSignal("CRDInformerHasNotSynced", synced_));
  for (const char* name : {"start-apiextensions-informers", "start-apiextensions-controllers",
                           "crd-informer-synced"}) {
    TRY_VOID(server.AddPostStartHook(
        name, [this](const server::PostStartHookContext&) { return WaitUntilSynced(); }));
  }
  return {};
}

void Definitions::Start() {
  gate_.Spawn(&executor_, storage::Follow(*resources_.definitions.store, *this, parts_.clock,
                                          stop_.get_token()));
}

Task<void> Definitions::Stop() {
  stop_.request_stop();
  co_await gate_.Close();
  synced_->Raise(parts_.clock);
  for (const auto& [key, kind] : kinds_) kind->Retire();
  routes_.Publish({});
  kinds_.clear();
  entries_.clear();
}

// --- what is stored ------------------------------------------------------------------------------

void Definitions::Replace(const std::vector<ObjectRef>& objects) {
  std::set<std::string, std::less<>> gone;
  for (const auto& [name, entry] : entries_) gone.insert(name);
  for (const auto& object : objects) {
    if (const auto known = gone.find(object->name()); known != gone.end()) gone.erase(known);
    Put(object);
  }
  for (const auto& name : gone) Remove(name);
  PublishIfChanged();
  synced_->Raise(parts_.clock);
  for (const auto& object : objects) Sync(std::string(object->name()));
}

void Definitions::Apply(const std::vector<WatchEvent>& events) {
  std::set<std::string> touched;
  std::set<std::string> groups;
  for (const auto& event : events) {
    if (!event.object) continue;
    const std::string name(event.object->name());
    if (event.type == WatchEvent::Type::kDeleted) {
      if (const auto found = entries_.find(name); found != entries_.end()) {
        groups.insert(found->second.key.first);
      }
      Remove(name);
      touched.erase(name);
    } else {
      Put(event.object);
      touched.insert(name);
    }
  }
  PublishIfChanged();
  for (const auto& name : touched) Sync(name);
  for (const auto& group : groups) SyncGroup(group);
}

void Definitions::Put(const ObjectRef& object) {
  const auto parsed = value::ParseJson(object->json_view());
  if (!parsed) {
    log::ErrorS("Unreadable definition", {{"name", object->name()}});
    return;
  }
  const Value root = parsed->root();
  auto& entry = entries_[std::string(object->name())];
  entry.key = {std::string(root["spec"]["group"].AsString()),
               std::string(root["spec"]["names"]["plural"].AsString())};
  entry.object = object;
  names_.Put(object->name(), root);
  Serve(entry, root);
}

// Served as soon as its names are its own. What has not changed keeps its store and its watches.
void Definitions::Serve(Entry& entry, const Value& root) {
  if (!IsConditionTrue(root, kNamesAccepted) && !IsConditionTrue(root, kEstablished)) {
    if (entry.kind == nullptr) return;
    std::exchange(entry.kind, nullptr)->Retire();
    kinds_.erase(entry.key);
    changed_ = true;
    return;
  }
  auto shape = ShapeOf(root);
  if (entry.kind != nullptr && entry.shape == shape) {
    if (IsConditionTrue(root, kTerminating)) entry.kind->SetTerminating();
    return;
  }
  if (entry.kind != nullptr) entry.kind->Retire();
  entry.kind = std::make_shared<const CustomKind>(entry.object, root, parts_);
  entry.shape = std::move(shape);
  kinds_[entry.key] = entry.kind;
  changed_ = true;
}

void Definitions::Remove(std::string_view name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  auto& [group, plural] = found->second.key;
  names_.Remove(name);
  if (found->second.kind != nullptr) {
    found->second.kind->Retire();
    kinds_.erase(found->second.key);
    changed_ = true;
  }
  if (const auto lacking = unsettled_.find(group); lacking != unsettled_.end()) {
    lacking->second.erase(std::string(name));
  }
  entries_.erase(found);
}

void Definitions::PublishIfChanged() {
  if (!std::exchange(changed_, false)) return;
  std::vector<CustomKindRef> kinds;
  kinds.reserve(kinds_.size());
  for (const auto& [key, kind] : kinds_) kinds.push_back(kind);
  routes_.Publish(std::move(kinds));
}

// --- what has to be written ----------------------------------------------------------------------

void Definitions::Sync(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  auto& entry = found->second;
  if (entry.busy) {
    entry.again = true;
    return;
  }
  const auto parsed = value::ParseJson(entry.object->json_view());
  if (!parsed) return;
  auto& lacking = unsettled_[entry.key.first];
  if (IsConditionTrue(parsed->root(), kNamesAccepted)) {
    lacking.erase(name);
  } else {
    lacking.insert(name);
  }
  if (!IsDying(parsed->root()) && names_.IsSettled(parsed->root())) return;
  entry.busy = true;
  if (!gate_.Spawn(&executor_, Work(name))) entry.busy = false;
}

// A name may have become free.
void Definitions::SyncGroup(const std::string& group) {
  const auto found = unsettled_.find(group);
  if (found == unsettled_.end()) return;
  const auto names = found->second;
  for (const auto& name : names) Sync(name);
}

Task<void> Definitions::Work(std::string name) {
  const auto object = entries_.find(name)->second.object;
  const auto kind = entries_.find(name)->second.kind;
  const auto parsed = value::ParseJson(object->json_view());
  auto done = IsDying(parsed->root()) ? co_await Finalize(name, kind) : co_await Settle(name);
  if (!done && !stop_.stop_requested()) {
    // A race is decided by what comes next.
    if (done.error().reason != "Conflict") {
      log::WarningS("Failed to update a CustomResourceDefinition",
                    {{"name", name}, {"err", done.error().message}});
    }
    co_await SleepFor(parts_.clock, kRetry, stop_.get_token());
  }
  const auto found = entries_.find(name);
  if (found == entries_.end()) co_return;
  found->second.busy = false;
  const bool again = std::exchange(found->second.again, false) || !done;
  if (again && !stop_.stop_requested()) Sync(name);
}

Task<ApiResult<void>> Definitions::Settle(std::string name) {
  const auto now = parts_.clock.WallNow();
  co_return co_await EditDefinition(
      PastAdmission(resources_.status), std::move(name),
      [this, now](value::Ref definition) { return names_.Settle(definition, now); });
}

Task<ApiResult<void>> Definitions::Finalize(std::string name, CustomKindRef kind) {
  if (kind != nullptr) {
    kind->SetTerminating();
    const auto now = parts_.clock.WallNow();
    auto said = co_await EditDefinition(
        PastAdmission(resources_.status), name, [now](value::Ref definition) {
          const Condition condition{.type = kTerminating,
                                    .status = kTrue,
                                    .reason = "InstanceDeletionInProgress",
                                    .message = "CustomResource deletion is in progress"};
          if (HasCondition(definition.Get(), condition)) return false;
          SetCondition(definition, condition, now);
          return true;
        });
    if (!said) co_return said;
    auto removed = co_await RemoveObjects(std::move(kind));
    if (!removed) co_return removed;
  }
  co_return co_await EditDefinition(PastAdmission(resources_.definitions), std::move(name),
                                    RemoveFinalizer);
}

// Returns when none is left; finalizers may hold some for long.
Task<ApiResult<void>> Definitions::RemoveObjects(CustomKindRef kind) {
  auto stored = kind->Stored();
  if (!stored) co_return std::unexpected(InternalErrorStatus(stored.error().message));
  const auto spec = PastAdmission(**stored);
  while (!stop_.stop_requested()) {
    auto list = co_await spec.store->List({});
    if (!list) co_return std::unexpected(std::move(list).error());
    if (list->objects.empty()) co_return ApiResult<void>();
    ApiResult<void> result;
    for (size_t first = 0; first < list->objects.size(); first += kRemovals) {
      Gate batch;
      const auto end = std::min(first + kRemovals, list->objects.size());
      for (size_t i = first; i < end; ++i) {
        batch.Spawn(&executor_, RemoveObject(spec, list->objects[i], result));
      }
      co_await batch.Close();
      if (!result) co_return result;
    }
    auto left = co_await spec.store->List({});
    if (left && left->objects.empty()) co_return ApiResult<void>();
    co_await SleepFor(parts_.clock, kRetry, stop_.get_token());
  }
  co_return std::unexpected(ServiceUnavailableStatus("the server is stopping"));
}

Task<void> Definitions::RemoveObject(const rest::ResourceSpec& spec, ObjectRef object,
                                     ApiResult<void>& result) {
  const rest::WriteScope scope{
      .ns = object->ns(), .name = object->name(), .now = parts_.clock.WallNow()};
  auto removed = co_await rest::DeleteObject(spec, scope, {});
  if (!removed && removed.error().code != 404) result = std::unexpected(removed.error());
}

}  // namespace keelson::apiextensions
