#include "patch/scale_fields.h"

namespace keelson::patch {
namespace {

using schema::FieldSet;
using schema::PathElement;
using value::Arena;
using value::Value;

constexpr std::string_view kScaleVersion = "autoscaling/v1";
constexpr PathElement kReplicasInScale[] = {PathElement::Field("spec"),
                                            PathElement::Field("replicas")};

std::vector<PathElement> Elements(const std::vector<std::string>& names) {
  std::vector<PathElement> path;
  for (const std::string& name : names) path.push_back(PathElement::Field(name));
  return path;
}

}  // namespace

Result<Value> ScaleManagedFields(Arena& arena, const Value& resource_entries,
                                 const ReplicasPaths& paths) {
  TRY(auto resource, ManagedFields::Decode(arena, resource_entries));
  ManagedFields scale;
  for (ManagedEntry entry : resource.entries()) {
    auto path = paths.find(entry.api_version);
    if (path == paths.end() || !entry.fields.Has(Elements(path->second))) continue;
    entry.fields = SinglePath(arena, kReplicasInScale);
    // The writer stays filed under the version it wrote the resource in; only its fields move.
    entry.api_version = kScaleVersion;
    scale.Put(entry);
  }
  return scale.Encode(arena);
}

Result<Value> ResourceManagedFields(Arena& arena, const Value& resource_entries,
                                    const Value& scale_entries, std::string_view api_version,
                                    const ReplicasPaths& paths) {
  TRY(auto before, ManagedFields::Decode(arena, resource_entries));
  TRY(auto scale, ManagedFields::Decode(arena, scale_entries));
  ManagedFields after;
  for (const ManagedEntry& entry : before.entries()) {
    auto path = paths.find(entry.api_version);
    if (path == paths.end()) continue;
    auto elements = Elements(path->second);
    if (!entry.fields.Has(elements)) {
      after.Put(entry);
      continue;
    }
    ManagedEntry in_scale = entry;
    in_scale.api_version = kScaleVersion;
    if (scale.Find(in_scale)) {
      after.Put(entry);
      scale.Remove(in_scale);
      continue;
    }
    // The write through scale took the replica count from this owner.
    ManagedEntry rest = entry;
    rest.fields = Difference(arena, entry.fields, SinglePath(arena, elements));
    if (!rest.fields.empty()) after.Put(rest);
  }
  for (ManagedEntry entry : scale.entries()) {
    if (!entry.fields.Has(kReplicasInScale)) continue;
    auto path = paths.find(api_version);
    if (path == paths.end()) continue;
    entry.api_version = api_version;
    entry.fields = SinglePath(arena, Elements(path->second));
    const ManagedEntry* same = before.Find(entry);
    entry.time = same ? same->time : std::string_view();
    after.Put(entry);
  }
  return after.Encode(arena);
}

}  // namespace keelson::patch
