#include "patch/ownership.h"

#include <algorithm>

#include "patch/last_applied.h"
#include "schema/zero.h"

namespace keelson::patch {
namespace {

using value::Builder;
using value::Document;
using value::Name;

constexpr Name kMetadata = Name::Quoted("\"metadata\":");
constexpr Name kManagedFields = Name::Quoted("\"managedFields\":");
constexpr Name kTime = Name::Quoted("\"time\":");
constexpr std::string_view kBeforeFirstApply = "before-first-apply";

// Fields that identify the object, or that only the server writes: nobody owns them.
constexpr std::string_view kUnownedMetadata[] = {
    "clusterName",     "creationTimestamp", "generation", "managedFields", "name", "namespace",
    "resourceVersion", "selfLink",          "uid"};

schema::FieldSet NeverOwned(Arena& arena) {
  using schema::PathElement;
  schema::FieldSetLevels levels;
  size_t metadata = levels.Open();
  for (std::string_view name : kUnownedMetadata) levels.Add({PathElement::Field(name), true});
  schema::FieldSet below = levels.Close(arena, metadata);
  size_t root = levels.Open();
  levels.Add({PathElement::Field("apiVersion"), true});
  levels.Add({PathElement::Field("kind"), true});
  levels.Add({PathElement::Field("metadata"), true, below});
  return levels.Close(arena, root);
}

std::string ApiVersionOf(const schema::GroupVersionKind& kind) {
  return kind.group.empty() ? std::string(kind.version)
                            : fmt::format("{}/{}", kind.group, kind.version);
}

// What upstream prints for the type of an object: /v1, Kind=Pod. An apiVersion with two slashes
// counts as none.
std::string TypeText(const Value& object) {
  std::string_view api_version = object["apiVersion"].AsString();
  std::string_view kind = object["kind"].AsString();
  size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return fmt::format("/{}, Kind={}", api_version, kind);
  if (api_version.find('/', slash + 1) != std::string_view::npos) {
    return fmt::format("/, Kind={}", kind);
  }
  return fmt::format("{}, Kind={}", api_version, kind);
}

// namespace/name; type
std::string ObjectText(const Value& object) {
  const Value metadata = object[kMetadata];
  return fmt::format("{}/{}; {}", metadata["namespace"].AsString(), metadata["name"].AsString(),
                     TypeText(object));
}

// A failure that upstream does not give a reason to.
Status PlainFailure(std::string message) {
  Status status;
  status.code = 500;
  status.message = std::move(message);
  return status;
}

void SetManagedFields(Builder& object, const ManagedFields& managed) {
  auto root = object.root();
  if (managed.empty()) {
    if (auto metadata = root.Find(kMetadata)) metadata->RemoveField(kManagedFields);
    return;
  }
  root.Field(kMetadata).SetField(kManagedFields, managed.Encode(object.arena()));
}

// The conflicts that are not about `allowed` fields.
Conflicts Without(Arena& arena, const Conflicts& conflicts, schema::FieldSet allowed) {
  Conflicts left;
  for (const Conflict& conflict : conflicts) {
    schema::FieldSet fields = Difference(arena, conflict.fields, allowed);
    if (!fields.empty()) left.push_back({conflict.writer, fields});
  }
  return left;
}

}  // namespace

Ownership::Ownership(OwnershipOptions options)
    : options_(std::move(options)),
      api_version_(ApiVersionOf(options_.kind)),
      arena_(Arena::Make()),
      never_owned_(NeverOwned(*arena_)),
      updater_(*options_.type, api_version_, options_.filters, options_.converter) {
  Builder object;
  // Custom resources have no struct behind them and start from nothing.
  object.root().Set(options_.type->info ? schema::ZeroValue(*options_.type, object.arena())
                                        : Value::EmptyObject());
  object.root().SetField("kind", object.String(options_.kind.kind));
  object.root().SetField("apiVersion", object.String(api_version_));
  new_object_ = std::move(object).Finish();
}

ManagedEntry Ownership::Writer(std::string_view manager, Operation operation) const {
  ManagedEntry writer;
  writer.manager = manager.empty() ? "unknown" : manager;
  writer.operation = operation;
  writer.api_version = api_version_;
  writer.subresource = options_.subresource;
  return writer;
}

Result<void> Ownership::TrackUpdate(Arena& scratch, const Value& live, const Value& object,
                                    ManagedFields& managed, std::string_view manager,
                                    WallTime now) const {
  TRY(auto changed, updater_.Update(scratch, live, object, managed));
  changed = Difference(scratch, changed, never_owned_);
  if (!changed.empty()) {
    ManagedEntry writer = Writer(manager, Operation::kUpdate);
    if (const ManagedEntry* before = managed.Find(writer)) {
      changed = Union(scratch, changed, before->fields);
    }
    writer.fields = changed;
    writer.time = FormatTime(scratch, now);
    managed.Put(writer);
  }
  managed.CapUpdates(scratch, kMaxUpdateEntries);
  return {};
}

Document Ownership::Update(const Document& live, const Document& object, std::string_view manager,
                           WallTime now) const {
  Builder out(object);
  Update(live, out, manager, now);
  return std::move(out).Finish();
}

void Ownership::Update(const Document& live, Builder& object, std::string_view manager,
                       WallTime now) const {
  Arena& scratch = object.arena();
  const Value live_entries = live.root()[kMetadata][kManagedFields];
  const Value sent_entries = object.root().Get()[kMetadata][kManagedFields];

  Result<ManagedFields> managed;
  if (options_.subresource.empty() && !AsksForReset(sent_entries)) {
    managed = ManagedFields::Decode(scratch, sent_entries);
  }
  bool reset = options_.subresource.empty() && AsksForReset(sent_entries);
  // Clients that do not know managedFields must not delete them by leaving them out.
  if (!reset && (!managed || managed->empty())) {
    managed = ManagedFields::Decode(scratch, live_entries);
  }
  if (!managed) managed = ManagedFields();

  if (!sent_entries.is_null()) object.root().Field(kMetadata).RemoveField(kManagedFields);
  // An object that was there before and has no owners stays without, until it is applied.
  bool created = live.root()[kMetadata]["uid"].AsString().empty();
  if (managed->empty() && !created) return;
  if (!TrackUpdate(scratch, live.root(), object.root().Get(), *managed, manager, now)) {
    *managed = ManagedFields();
  }
  SetManagedFields(object, *managed);
}

ApiResult<void> Ownership::CheckKind(const Value& config) const {
  std::string type = TypeText(config);
  if (type == fmt::format("{}/{}, Kind={}", options_.kind.group, options_.kind.version,
                          options_.kind.kind)) {
    return {};
  }
  return std::unexpected(BadRequestStatus("invalid object type: " + type));
}

ApiResult<void> Ownership::CheckConfig(Arena& scratch, const Value& config) const {
  if (config[kMetadata][kManagedFields].is_list()) {
    return std::unexpected(BadRequestStatus("metadata.managedFields must be nil"));
  }
  auto checked = CheckTyped(scratch, *options_.type, config, Duplicates::kRefused);
  if (!checked) {
    return std::unexpected(PlainFailure(fmt::format("failed to create typed patch object ({}): {}",
                                                    ObjectText(config), checked.error().message)));
  }
  return {};
}

// The failure of an apply. Where the live object itself does not fit the type, upstream says so.
Status Ownership::LiveFailure(Arena& scratch, const Value& live, std::string_view about_live,
                              const Error& error) const {
  auto checked = CheckTyped(scratch, *options_.type, live, Duplicates::kAllowed);
  if (checked) return PlainFailure(error.message);
  return PlainFailure(
      fmt::format(fmt::runtime(about_live), ObjectText(live), checked.error().message));
}

ApiResult<Document> Ownership::Apply(const Document& live, const Document& config,
                                     std::string_view manager, bool force, WallTime now) const {
  auto scratch = Arena::Make(32 * 1024);
  auto managed = ManagedFields::Decode(*scratch, live.root()[kMetadata][kManagedFields]);
  if (!managed) {
    return std::unexpected(
        PlainFailure("failed to decode managed fields: " + managed.error().message));
  }
  TRY_VOID(CheckKind(config.root()));
  if (managed->empty()) {
    auto tracked =
        TrackUpdate(*scratch, new_object_.root(), live.root(), *managed, kBeforeFirstApply, now);
    if (!tracked) {
      return std::unexpected(LiveFailure(
          *scratch, live.root(),
          "failed to create manager for existing fields: failed to convert new object ({}) to smd "
          "typed: {}",
          tracked.error()));
    }
  }

  TRY_VOID(CheckConfig(*scratch, config.root()));

  ManagedEntry applier = Writer(manager, Operation::kApply);
  ManagedFields before = *managed;
  auto applied = updater_.Apply(*scratch, live.root(), config.root(), *managed, applier, force);
  if (!applied && std::holds_alternative<Conflicts>(applied.error()) && manager == kKubectl) {
    auto conflicts = std::get<Conflicts>(applied.error());
    if (auto allowed = FieldsLastApplied(*scratch, *options_.type, api_version_, live.root())) {
      conflicts = Without(*scratch, conflicts, *allowed);
    }
    if (!conflicts.empty()) return std::unexpected(ApplyConflictStatus(conflicts));
    *managed = before;
    applied = updater_.Apply(*scratch, live.root(), config.root(), *managed, applier, true);
  }
  if (!applied) {
    if (auto* conflicts = std::get_if<Conflicts>(&applied.error())) {
      return std::unexpected(ApplyConflictStatus(*conflicts));
    }
    return std::unexpected(LiveFailure(*scratch, live.root(),
                                       "failed to create typed live object ({}): {}",
                                       std::get<Error>(applied.error())));
  }
  if (ManagedEntry* entry = managed->Find(applier)) {
    entry->fields = Difference(*scratch, entry->fields, never_owned_);
    if (*applied) entry->time = FormatTime(*scratch, now);
    if (entry->fields.empty()) managed->Remove(applier);
  }

  Builder out(live);
  out.Adopt(config);
  out.arena().Borrow(scratch);
  if (*applied) out.root().Set(**applied);
  if (manager == kKubectl) SyncLastApplied(out, config.root());
  SetManagedFields(out, *managed);
  return std::move(out).Finish();
}

namespace {

bool SameButTime(const Value& a, const Value& b) {
  auto others = [](const Value& entry) { return entry.size() - (entry.Find(kTime) ? 1 : 0); };
  return others(a) == others(b) && std::ranges::all_of(a.members(), [&](const auto& member) {
           if (*member.name == kTime) return true;
           const Value* other = b.Find(*member.name);
           return other != nullptr && *other == member.value;
         });
}

bool SameEntriesButTimes(const Value& a, const Value& b) {
  return std::ranges::equal(a.items(), b.items(), SameButTime);
}

}  // namespace

Document KeepTimesIfUnchanged(const Document& live, const Document& written) {
  Value live_entries = live.root()[kMetadata][kManagedFields];
  Value written_entries = written.root()[kMetadata][kManagedFields];
  if (live_entries.is_null() || !SameEntriesButTimes(live_entries, written_entries)) return written;
  Builder out(written);
  out.Adopt(live);
  out.root().Field(kMetadata).SetField(kManagedFields, live_entries);
  return out.root().Get() == live.root() ? std::move(out).Finish() : written;
}

}  // namespace keelson::patch
