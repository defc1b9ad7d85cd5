#include "rest/deletion.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "rest/object_meta.h"
#include "schema/transform.h"
#include "value/timestamp.h"

namespace keelson::rest {
namespace {

using value::Builder;
using value::Document;
using value::Ref;
using value::Value;
using Kind = DeletionDecision::Kind;

int64_t UnixSeconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

ApiResult<void> CheckPreconditions(const ResourceSpec& spec, const WriteScope& scope,
                                   const DeleteOptions& options, const Value& metadata) {
  if (!options.preconditions) return {};
  // Upstream names the kind here, not the resource.
  const GroupResource kind{std::string(spec.info->group), std::string(spec.info->kind)};
  const auto& [uid, version] = *options.preconditions;
  const auto stored_uid = metadata["uid"].AsString();
  if (uid && *uid != stored_uid) {
    return std::unexpected(ConflictStatus(
        kind, scope.name,
        fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). The "
                    "object might have been deleted and then recreated",
                    *uid, stored_uid)));
  }
  const auto stored_version = metadata["resourceVersion"].AsString();
  if (version && *version != stored_version) {
    return std::unexpected(ConflictStatus(
        kind, scope.name,
        fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                    "ResourceVersion in record ({}). The object might have been modified",
                    *version, stored_version)));
  }
  return {};
}

bool HasFinalizer(const Value& metadata, std::string_view name) {
  return std::ranges::any_of(metadata["finalizers"].items(),
                             [&](const Value& item) { return item.AsString() == name; });
}

// The finalizers that the asked propagation leaves: orphan and foregroundDeletion stand for it.
std::vector<Value> FinalizersFor(const ResourceSpec& spec, const DeleteOptions& options,
                                 const Value& metadata) {
  const auto& policy = options.propagation_policy;
  bool orphan = false;
  bool foreground = false;
  if (spec.strategy->DefaultGarbageCollection() == GarbageCollection::kUnsupported) {
    // Nothing depends on such objects.
  } else if (options.orphan_dependents) {
    orphan = *options.orphan_dependents;
  } else if (policy) {
    orphan = *policy == "Orphan";
    foreground = *policy == "Foreground";
  } else {
    orphan = HasFinalizer(metadata, kFinalizerOrphan);
    foreground = HasFinalizer(metadata, kFinalizerForeground);
    if (!orphan && !foreground) {
      orphan = spec.strategy->DefaultGarbageCollection() == GarbageCollection::kOrphan;
    }
  }
  std::vector<Value> finalizers;
  for (const Value& item : metadata["finalizers"].items()) {
    if (item.AsString() != kFinalizerOrphan && item.AsString() != kFinalizerForeground) {
      finalizers.push_back(item);
    }
  }
  if (orphan) finalizers.push_back(Value::String(kFinalizerOrphan, /*plain=*/true));
  if (foreground) finalizers.push_back(Value::String(kFinalizerForeground, /*plain=*/true));
  return finalizers;
}

void SetDeletionTime(Ref metadata, int64_t seconds) {
  metadata.SetField("deletionTimestamp",
                    metadata.builder().String(value::FormatTime({.seconds = seconds})));
}

void BumpGeneration(Ref metadata) {
  auto generation = metadata.Get()["generation"].AsInt();
  if (generation > 0) metadata.SetField("generation", Value::Int(generation + 1));
}

// Grace for an object that is not yet dying, or less of it for one that is. True when it changed.
bool ApplyGrace(const ResourceSpec& spec, const WriteScope& scope, const DeleteOptions& options,
                const Value& object, Ref metadata) {
  auto asked = options.grace_period_seconds;
  if (asked && *asked < 0) asked = 1;
  const Value now = metadata.Get();
  if (now["deletionTimestamp"].is_null()) {
    auto grace = spec.strategy->DeletionGrace(object, asked);
    if (!grace) return false;
    SetDeletionTime(metadata, UnixSeconds(scope.now) + *grace);
    metadata.SetField("deletionGracePeriodSeconds", Value::Int(*grace));
    BumpGeneration(metadata);
    return true;
  }
  const auto granted = now["deletionGracePeriodSeconds"].AsInt();
  if (granted == 0 || !asked || *asked >= granted) return false;
  auto end = value::ParseTime(now["deletionTimestamp"].AsString());
  int64_t wanted = (end ? end->seconds : UnixSeconds(scope.now)) - granted + *asked;
  if (wanted < UnixSeconds(scope.now)) {
    wanted = UnixSeconds(scope.now);
    if (*asked != 0) asked = 1;
  }
  SetDeletionTime(metadata, wanted);
  metadata.SetField("deletionGracePeriodSeconds", Value::Int(*asked));
  return true;
}

void MarkDying(const WriteScope& scope, Ref metadata) {
  const Value now = metadata.Get();
  auto end = value::ParseTime(now["deletionTimestamp"].AsString());
  if (now["deletionTimestamp"].is_null()) BumpGeneration(metadata);
  if (now["deletionTimestamp"].is_null() || (end && end->seconds > UnixSeconds(scope.now))) {
    SetDeletionTime(metadata, UnixSeconds(scope.now));
  }
  metadata.SetField("deletionGracePeriodSeconds", Value::Int(0));
}

}  // namespace

Status DeletedStatus(const ResourceSpec& spec, std::string_view name, std::string_view uid) {
  return {.code = 0,
          .details = StatusDetails{.name = std::string(name),
                                   .group = std::string(spec.info->group),
                                   .kind = std::string(spec.info->plural),
                                   .uid = std::string(uid)},
          .success = true};
}

ApiResult<DeletionDecision> DecideDeletion(const ResourceSpec& spec, const WriteScope& scope,
                                           const DeleteOptions& options, const Document& stored) {
  const Value before = stored.root()["metadata"];
  if (auto ok = CheckPreconditions(spec, scope, options, before); !ok) {
    return std::unexpected(std::move(ok).error());
  }
  Builder builder(stored);
  Ref metadata = builder.root().Field("metadata");
  const auto finalizers = FinalizersFor(spec, options, before);
  if (finalizers.empty()) {
    metadata.RemoveField("finalizers");
  } else {
    metadata.SetField("finalizers", builder.List(finalizers));
  }
  const bool graceful = ApplyGrace(spec, scope, options, stored.root(), metadata);
  const bool waiting = !graceful && !before["deletionTimestamp"].is_null() &&
                       before["deletionGracePeriodSeconds"].AsInt() > 0 &&
                       metadata.Get()["deletionGracePeriodSeconds"].AsInt() > 0;
  const auto grace = metadata.Get()["deletionGracePeriodSeconds"].AsInt();
  bool last = false;
  if (!(graceful && grace > 0) && !waiting) {
    last = finalizers.empty() && !spec.strategy->AwaitsFinalization(stored.root());
    if (last && !graceful) return DeletionDecision{.kind = Kind::kRemove};
    if (!last) MarkDying(scope, metadata);
  }
  spec.strategy->PrepareForDelete(scope, builder.root());
  Document marked = std::move(builder).Finish();
  schema::Normalize(spec.stored_type(), marked);
  if (last) return DeletionDecision{.kind = Kind::kLast, .object = std::move(marked)};
  if (marked.root() == stored.root()) return DeletionDecision{.kind = Kind::kKeep};
  return DeletionDecision{.kind = Kind::kMark, .object = std::move(marked)};
}

}  // namespace keelson::rest
