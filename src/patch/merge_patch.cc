// Upstream's merge differs from the RFC in one place: a value put where none was has its nulls
// pruned at every depth, also those of objects inside lists. The items of a list are never removed.

#include "patch/merge_patch.h"

#include <vector>

#include "patch/member_index.h"

namespace keelson::patch {
namespace {

using value::Arena;
using value::Member;
using value::Value;

bool HasNullMember(const Value& value) {
  for (const Member& member : value.members()) {
    if (member.value.is_null() || HasNullMember(member.value)) return true;
  }
  for (const Value& item : value.items()) {
    if (HasNullMember(item)) return true;
  }
  return false;
}

Value PruneNulls(Arena& arena, const Value& value) {
  if (!HasNullMember(value)) return value.Shared();
  if (value.is_object()) {
    auto* out = arena.AllocateArray<Member>(value.size());
    size_t count = 0;
    for (const Member& member : value.members()) {
      if (member.value.is_null()) continue;
      new (&out[count++]) Member(member.name, PruneNulls(arena, member.value));
    }
    return Value::Object({out, count});
  }
  auto* out = arena.AllocateArray<Value>(value.size());
  for (size_t i = 0; i < value.size(); ++i) {
    new (&out[i]) Value(PruneNulls(arena, value.items()[i]));
  }
  return Value::List({out, value.size()});
}

Value MergeObjects(Arena& arena, const Value& object, const Value& patch);

// What replaces `current`, which is null where there is none, when the patch says `change`.
Value MergeValue(Arena& arena, const Value& current, const Value& change) {
  if (!current.is_object()) return PruneNulls(arena, change);
  return change.is_object() ? MergeObjects(arena, current, change) : change.Shared();
}

Value MergeObjects(Arena& arena, const Value& object, const Value& patch) {
  auto* out = arena.AllocateArray<Member>(size_t{object.size()} + patch.size());
  size_t count = 0;
  MemberIndex changes(patch.members());
  size_t matched = 0;
  for (const Member& member : object.members()) {
    const Value* change = patch.size() == 0 ? nullptr : changes.FindValue(*member.name);
    if (!change) {
      new (&out[count++]) Member(member.name, member.value.Shared());
      continue;
    }
    ++matched;
    if (change->is_null()) continue;
    new (&out[count++]) Member(member.name, MergeValue(arena, member.value, *change));
  }
  if (matched < patch.size()) {
    MemberIndex present(object.members());
    for (const Member& member : patch.members()) {
      if (member.value.is_null() || present.Find(*member.name) != MemberIndex::kNone) continue;
      new (&out[count++]) Member(member.name, PruneNulls(arena, member.value));
    }
  }
  return Value::Object({out, count});
}

}  // namespace

std::string_view JsonKindText(const Value& value) {
  switch (value.kind()) {
    case value::Kind::kNull:
      return "null";
    case value::Kind::kBool:
      return "bool";
    case value::Kind::kInt:
    case value::Kind::kDouble:
      return "number";
    case value::Kind::kString:
      return "string";
    case value::Kind::kList:
      return "array";
    case value::Kind::kObject:
      return "object";
  }
  return "";
}

ApiResult<value::Document> ApplyMergePatch(const value::Document& object,
                                           const value::Document& patch) {
  if (patch.root().is_null()) return std::unexpected(BadRequestStatus("Invalid JSON Patch"));
  if (!patch.root().is_object()) {
    return std::unexpected(BadRequestStatus(
        fmt::format("error decoding patch: json: cannot unmarshal {} into Go value of type "
                    "map[string]interface {{}}",
                    JsonKindText(patch.root()))));
  }
  value::Builder out(object);
  out.Adopt(patch);
  out.root().Set(MergeObjects(out.arena(), object.root(), patch.root()));
  return std::move(out).Finish();
}

}  // namespace keelson::patch
