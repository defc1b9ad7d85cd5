// Create: a new object from nothing, and the parts that every write shares.

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "rest/object_meta.h"
#include "rest/prepare.h"
#include "rest/prepare_new.h"
#include "rest/write.h"
#include "schema/decode_json.h"
#include "value/json.h"

namespace keelson::rest {
namespace {

using value::Builder;
using value::Document;

// How often a generated name may turn out to be taken.
constexpr int kNameAttempts = 8;
// What the way from a body to a stored object mostly needs.
constexpr size_t kWriteBytes = 16 * 1024;

// What the creator may not have said, and where the object belongs.
ApiResult<void> Enter(const ResourceSpec& spec, const WriteScope& scope, Builder& object) {
  value::Ref metadata = object.root().Field("metadata");
  WipeSystemFields(metadata);
  return EnterNamespace(spec, scope, metadata);
}

// Whoever finds the name taken is told when that will pass.
Task<Status> TakenStatus(const ResourceSpec& spec, Status taken, std::string ns, std::string name) {
  auto there = co_await spec.store->Get(std::move(ns), std::move(name));
  if (!there) co_return taken;
  auto object = DecodeStored(spec, **there);
  if (object && !object->root()["metadata"]["deletionTimestamp"].is_null()) {
    taken.message = "object is being deleted: " + taken.message;
  }
  co_return taken;
}

Task<ApiResult<Written>> DryCreate(const ResourceSpec& spec, Document object) {
  const auto metadata = object.root()["metadata"];
  const std::string name(metadata["name"].AsString());
  auto there = co_await spec.store->Get(std::string(metadata["namespace"].AsString()), name);
  if (there) co_return std::unexpected(AlreadyExistsStatus(spec.group_resource(), name));
  co_return Written{.json = value::ToJsonSlice(object.root()), .created = true};
}

}  // namespace

Task<ApiResult<PreparedObject>> PrepareNew(const ResourceSpec& spec, const WriteScope& scope,
                                           Builder& object) {
  BeginCreate(scope, object);
  PreparedObject prepared;
  if (spec.strategy->Reserves()) {
    auto reserved = co_await spec.strategy->Reserve(scope, object.root(), nullptr);
    if (!reserved) co_return std::unexpected(std::move(reserved).error());
    prepared.reservation = *std::move(reserved);
  }
  auto finished = FinishCreate(spec, scope, object);
  if (!finished) co_return std::unexpected(std::move(finished).error());
  prepared.object = *std::move(finished);
  auto admitted = co_await AdmitResult(spec, scope, &prepared.object, nullptr);
  if (!admitted) co_return std::unexpected(std::move(admitted).error());
  co_return prepared;
}

Task<ApiResult<Written>> CreateObject(const ResourceSpec& spec, const WriteScope& scope,
                                      Document object) {
  Builder builder(object, kWriteBytes);
  auto entered = Enter(spec, scope, builder);
  if (!entered) co_return std::unexpected(std::move(entered).error());
  DropRepeatedOwners(scope, builder, /*after_admission=*/false);
  spec.ownership->Update(spec.ownership->NewObject(), builder, scope.manager, scope.now);
  auto admitted = co_await AdmitChange(spec, scope, builder, nullptr);
  if (!admitted) co_return std::unexpected(std::move(admitted).error());
  DropRepeatedOwners(scope, builder, /*after_admission=*/true);
  std::optional<Builder> converted;
  if (spec.projection != nullptr) {
    auto stored = spec.projection->Put(builder.Snapshot(), nullptr);
    if (!stored) co_return std::unexpected(std::move(stored).error());
    converted.emplace(*stored);
  }
  Builder& kept = converted ? *converted : builder;
  const auto unnamed = kept.root().Get();
  const bool generated = unnamed["metadata"]["name"].AsString().empty();
  for (int attempt = 1;; ++attempt) {
    kept.root().Set(unnamed);
    auto prepared = co_await PrepareNew(spec, scope, kept);
    if (!prepared) co_return std::unexpected(std::move(prepared).error());
    const auto metadata = prepared->object.root()["metadata"];
    if (!metadata["resourceVersion"].AsString().empty()) {
      co_return std::unexpected(Status{
          .code = 500, .message = "resourceVersion should not be set on objects to be created"});
    }
    if (scope.dry_run) co_return co_await DryCreate(spec, prepared->object);
    auto stored =
        co_await spec.store->Create(ImageOf(spec, prepared->object), spec.strategy->TimeToLive());
    if (stored) {
      if (prepared->reservation) prepared->reservation->Commit();
      co_return Written{.json = (*stored)->Json(), .created = true};
    }
    const bool taken = stored.error().reason == "AlreadyExists";
    if (taken && generated && attempt < kNameAttempts) continue;
    if (!taken) co_return std::unexpected(std::move(stored).error());
    co_return std::unexpected(co_await TakenStatus(spec, std::move(stored).error(),
                                                   std::string(metadata["namespace"].AsString()),
                                                   std::string(metadata["name"].AsString())));
  }
}

Result<Document> DecodeStored(const ResourceSpec& spec, const storage::CachedObject& stored) {
  TRY(auto decoded, schema::DecodeJson(spec.stored_type(), stored.json_view()));
  return decoded.object;
}

storage::ObjectImage ImageOf(const ResourceSpec& spec, const Document& object) {
  if (object.root()["metadata"].Find("resourceVersion") == nullptr) {
    return spec.encoder->Encode(object.root());
  }
  Builder builder(object);
  builder.root().Field("metadata").RemoveField("resourceVersion");
  return spec.encoder->Encode(std::move(builder).Finish().root());
}

void DropRepeatedOwners(const WriteScope& scope, Builder& object, bool after_admission) {
  if (object.root().Get()["metadata"]["ownerReferences"].items().size() < 2) return;
  const auto repeated = DeduplicateOwnerReferences(object.root().Field("metadata"));
  if (repeated.empty()) return;
  scope.Warn(fmt::format(
      ".metadata.ownerReferences contains duplicate entries{}; API server dedups owner references "
      "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
      "duplicate UID(s) observed: {}",
      after_admission ? " after mutating admission happens" : "", fmt::join(repeated, ", ")));
}

}  // namespace keelson::rest
