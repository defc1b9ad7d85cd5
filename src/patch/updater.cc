#include "patch/updater.h"

#include <algorithm>

namespace keelson::patch {

const schema::Type* Updater::TypeIn(std::string_view api_version) const {
  if (api_version == api_version_) return &type_;
  return converter_ ? converter_->TypeIn(api_version) : nullptr;
}

Result<Updater::Versioned> Updater::In(Arena& arena, const Versioned& from,
                                       std::string_view api_version) const {
  if (from.api_version == api_version) return from;
  // The copy keeps the converted tree from borrowing the arena that is about to borrow it.
  TRY(auto converted, converter_->Convert(value::DeepCopy(from.object), api_version));
  arena.Borrow(converted.arena());
  return Versioned{converted.root(), TypeIn(api_version), api_version};
}

FieldSet Updater::Filter(Arena& arena, std::string_view api_version, FieldSet set) const {
  auto filter = filters_.find(api_version);
  return filter == filters_.end() ? set : filter->second.Apply(arena, set);
}

// Owners in versions that are gone lose their fields, and sets follow what has become atomic.
void Updater::Reconcile(Arena& arena, ManagedFields& managed) const {
  managed.RemoveIf([&](const ManagedEntry& entry) { return !TypeIn(entry.api_version); });
  for (ManagedEntry& entry : managed.entries()) {
    entry.fields = ReconcileWithType(arena, *TypeIn(entry.api_version), entry.fields);
  }
}

Result<Comparison> Updater::CompareIn(Arena& arena, const Value& live, const Value& object,
                                      std::string_view api_version) const {
  TRY(auto old_side, In(arena, {live, &type_, api_version_}, api_version));
  TRY(auto new_side, In(arena, {object, &type_, api_version_}, api_version));
  auto compared = Compare(arena, *old_side.type, old_side.object, new_side.object);
  if (!compared) return Annotate(compared.error(), "failed to compare objects");
  return Comparison{Filter(arena, api_version, compared->removed),
                    Filter(arena, api_version, compared->modified),
                    Filter(arena, api_version, compared->added)};
}

std::expected<Comparison, Updater::ApplyFailure> Updater::TakeFromOthers(
    Arena& arena, const Value& live, const Value& object, ManagedFields& managed,
    const ManagedEntry* writer, bool force) const {
  auto own = CompareIn(arena, live, object, api_version_);
  if (!own) return std::unexpected(own.error());
  if (managed.empty()) return *own;
  std::map<std::string_view, Comparison> by_version;
  by_version[api_version_] = *own;

  Conflicts conflicts;
  std::vector<FieldSet> left;
  for (const ManagedEntry& entry : managed.entries()) {
    left.push_back(entry.fields);
    if (writer && entry.SameWriter(*writer)) continue;
    auto [compared, is_new] = by_version.try_emplace(entry.api_version);
    if (is_new) {
      auto other = CompareIn(arena, live, object, entry.api_version);
      if (!other) return std::unexpected(other.error());
      compared->second = *other;
    }
    const Comparison& changes = compared->second;
    FieldSet changed = Union(arena, changes.modified, changes.added);
    if (!force) {
      FieldSet contested = Intersection(arena, entry.fields, changed);
      if (!contested.empty()) conflicts.push_back({entry, contested});
    }
    left.back() = Difference(arena, Difference(arena, entry.fields, changed), changes.removed);
  }
  if (!conflicts.empty()) {
    std::sort(conflicts.begin(), conflicts.end(), [](const Conflict& a, const Conflict& b) {
      return a.writer.Identifier() < b.writer.Identifier();
    });
    return std::unexpected(std::move(conflicts));
  }
  for (size_t i = 0; i < left.size(); ++i) managed.entries()[i].fields = left[i];
  managed.RemoveIf([](const ManagedEntry& entry) { return entry.fields.empty(); });
  return *own;
}

Result<FieldSet> Updater::Update(Arena& arena, const Value& live, const Value& object,
                                 ManagedFields& managed) const {
  Reconcile(arena, managed);
  auto changes = TakeFromOthers(arena, live, object, managed, nullptr, /*force=*/true);
  if (!changes) return std::unexpected(std::get<Error>(changes.error()));
  return Union(arena, changes->modified, changes->added);
}

std::expected<std::optional<Value>, Updater::ApplyFailure> Updater::Apply(
    Arena& arena, const Value& live, const Value& config, ManagedFields& managed,
    const ManagedEntry& applier, bool force) const {
  Reconcile(arena, managed);
  auto fail = [](Error error, std::string_view doing) {
    return std::unexpected(ApplyFailure(Annotate(std::move(error), doing).error()));
  };
  auto merged = MergeTyped(arena, type_, live, config);
  if (!merged) return fail(merged.error(), "failed to merge config");

  ManagedEntry last;
  if (const ManagedEntry* before = managed.Find(applier)) last = *before;
  ManagedEntry entry = applier;
  entry.time = last.time;
  entry.fields = Filter(arena, api_version_, ToFieldSet(arena, type_, config));
  managed.Put(entry);
  auto pruned = Prune(arena, *merged, managed, last);
  if (!pruned) return fail(pruned.error(), "failed to prune fields");
  auto changes = TakeFromOthers(arena, live, *pruned, managed, &entry, force);
  if (!changes) return std::unexpected(std::move(changes.error()));
  if (live == *pruned || value::Compare(live, *pruned) == 0) return std::nullopt;
  return *pruned;
}

// What was applied before and is not now goes, unless any owner has it still, or it was not the
// applier's to remove.
Result<Value> Updater::Prune(Arena& arena, const Value& merged, const ManagedFields& managed,
                             const ManagedEntry& last) const {
  if (last.fields.empty()) return merged;
  TRY(auto all, In(arena, {merged, &type_, api_version_}, last.api_version));
  const schema::Type& type = *all.type;
  FieldSet last_fields = WithNamedFields(arena, type, last.fields);
  Versioned pruned = all;
  pruned.object = RemoveItems(arena, type, all.object, last_fields);
  TRY(pruned, AddBackOwned(arena, all, pruned, managed));

  TRY(pruned, In(arena, pruned, last.api_version));
  FieldSet pruned_fields = ToFieldSet(arena, type, pruned.object);
  FieldSet all_fields = ToFieldSet(arena, type, all.object);
  FieldSet gone = Difference(arena, WithNamedFields(arena, type, all_fields),
                             WithNamedFields(arena, type, pruned_fields));
  pruned = all;
  pruned.object = RemoveItems(arena, type, all.object, Intersection(arena, gone, last_fields));
  TRY(pruned, In(arena, pruned, api_version_));
  return pruned.object;
}

// `pruned` with what any owner has; in the version pruned in first, since conversion may need it.
Result<Updater::Versioned> Updater::AddBackOwned(Arena& arena, const Versioned& merged,
                                                 Versioned pruned,
                                                 const ManagedFields& managed) const {
  std::vector<std::pair<std::string_view, FieldSet>> owned = {{pruned.api_version, {}}};
  for (const ManagedEntry& entry : managed.entries()) {
    auto at = std::find_if(owned.begin(), owned.end(),
                           [&](const auto& pair) { return pair.first == entry.api_version; });
    if (at == owned.end()) at = owned.insert(at, {entry.api_version, {}});
    at->second = Union(arena, at->second, entry.fields);
  }
  for (const auto& [api_version, fields] : owned) {
    if (fields.empty()) continue;
    TRY(auto all, In(arena, merged, api_version));
    TRY(pruned, In(arena, pruned, api_version));
    const schema::Type& type = *all.type;
    FieldSet all_fields = ToFieldSet(arena, type, all.object);
    FieldSet pruned_fields = ToFieldSet(arena, type, pruned.object);
    FieldSet kept = Union(arena, WithNamedFields(arena, type, pruned_fields),
                          WithNamedFields(arena, type, fields));
    FieldSet gone = Difference(arena, WithNamedFields(arena, type, all_fields), kept);
    pruned.object = RemoveItems(arena, type, all.object, gone);
  }
  return pruned;
}

}  // namespace keelson::patch
