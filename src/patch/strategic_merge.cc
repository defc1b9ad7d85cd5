// Merging of objects by strategy. The order of steps is upstream's, since directives act on what
// earlier steps have left: $patch decides alone; then $retainKeys clears, then each
// $setElementOrder takes its list out of the patch and merges it, then the fields left are merged.

#include "patch/strategic_merge.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "patch/go_text.h"
#include "patch/merge_patch.h"
#include "patch/strategic_list.h"
#include "patch/strategic_schema.h"

namespace keelson::patch {
namespace {

using schema::Type;
using value::Arena;
using value::Member;
using value::Name;
using value::Value;

constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder";
constexpr std::string_view kDeleteFromPrimitiveList = "$deleteFromPrimitiveList";
constexpr std::string_view kBadRetainKeys = "invalid patch format of retainKeys";
constexpr std::string_view kBadPrimitiveList = "invalid patch format of primitive list";
constexpr std::string_view kUnsupported = "strategic merge patch format is not supported";

// An object being edited: members in order, found by name at any size.
class Fields {
 public:
  explicit Fields(const Value& object) {
    members_.reserve(object.size());
    for (const Member& member : object.members()) Append(member);
  }

  const Value* Find(std::string_view name) const {
    auto at = positions_.find(name);
    return at == positions_.end() ? nullptr : &members_[at->second].value;
  }
  void Set(const Name* name, const Value& value) {
    auto at = positions_.find(name->text());
    if (at == positions_.end()) return Append(Member(name, value.Shared()));
    members_[at->second] = Member(members_[at->second].name, value.Shared());
  }
  void Remove(std::string_view name) {
    auto at = positions_.find(name);
    if (at == positions_.end()) return;
    members_[at->second].name = nullptr;
    positions_.erase(at);
  }
  template <typename Predicate>
  void RemoveIf(Predicate&& predicate) {
    for (Member& member : members_) {
      if (member.name && predicate(member.key())) Remove(member.key());
    }
  }
  // The members as they are now; a copy, so that they may be removed meanwhile.
  std::vector<Member> Snapshot() const {
    std::vector<Member> left;
    for (const Member& member : members_) {
      if (member.name) left.push_back(member);
    }
    return left;
  }
  Value Build(Arena& arena) const {
    auto left = Snapshot();
    auto* copy = arena.AllocateArray<Member>(left.size());
    std::uninitialized_copy(left.begin(), left.end(), copy);
    return Value::Object({copy, left.size()});
  }

 private:
  void Append(const Member& member) {
    positions_[member.key()] = members_.size();
    members_.push_back(Member(member.name, member.value.Shared()));
  }

  std::vector<Member> members_;
  std::unordered_map<std::string_view, size_t> positions_;
};

// $setElementOrder/containers -> containers; nothing without the slash.
std::optional<std::string_view> KeyAfter(std::string_view key, std::string_view prefix) {
  if (key.size() <= prefix.size() || key[prefix.size()] != '/') return std::nullopt;
  return key.substr(prefix.size() + 1);
}

class StrategicMerge {
 public:
  explicit StrategicMerge(Arena& arena) : arena_(arena) {}

  Result<Value> Objects(const Value& original, const Value& patch, const Type* type) {
    if (const Value* directive = patch.Find(kDirective)) return Directive(*directive, patch);
    Fields out(original);
    Fields changes(patch);
    TRY_VOID(RetainKeys(out, changes));
    for (const Member& change : changes.Snapshot()) {
      if (change.key().starts_with(kSetElementOrder)) {
        TRY_VOID(SetElementOrder(out, changes, change, type));
      }
    }
    for (const Member& change : changes.Snapshot()) TRY_VOID(Field(out, change, type));
    return out.Build(arena_);
  }

 private:
  Result<Value> Directive(const Value& directive, const Value& patch) {
    if (directive.is_string() && directive.AsString() == "delete") return Value::EmptyObject();
    if (!directive.is_string() || directive.AsString() != "replace") {
      return BadDirective(directive, patch);
    }
    Fields whole(patch);
    whole.Remove(kDirective);
    return whole.Build(arena_);
  }

  // Every field that the patch sets must be listed; what the object has besides is cleared.
  Result<void> RetainKeys(Fields& out, Fields& changes) {
    const Value* found = changes.Find(kRetainKeys);
    if (!found) return {};
    Value keys = *found;
    changes.Remove(kRetainKeys);
    if (!keys.is_list()) return Fail(ErrorCode::kInvalid, "{}", kBadRetainKeys);
    std::unordered_set<std::string_view> retained;
    for (const Value& key : keys.items()) {
      if (key.is_string()) retained.insert(key.AsString());
    }
    for (const Member& change : changes.Snapshot()) {
      if (change.value.is_null() || change.key().starts_with(kDeleteFromPrimitiveList) ||
          change.key().starts_with(kSetElementOrder)) {
        continue;
      }
      if (!retained.contains(change.key())) return Fail(ErrorCode::kInvalid, "{}", kBadRetainKeys);
    }
    out.RemoveIf([&](std::string_view key) { return !retained.contains(key); });
    return {};
  }

  Result<void> SetElementOrder(Fields& out, Fields& changes, const Member& directive,
                               const Type* type) {
    changes.Remove(directive.key());
    const Value& wanted = directive.value;
    if (!wanted.is_list()) return WrongGoType("[]interface {}", wanted);
    auto key = KeyAfter(directive.key(), kSetElementOrder);
    if (!key) return Fail(ErrorCode::kInvalid, "{}", kBadSetElementOrder);
    const Value* live = out.Find(*key);
    const Value* patch = changes.Find(*key);
    for (const Value* side : {live, patch}) {
      if (side && !side->is_list()) return WrongGoType("[]interface {}", *side);
    }
    TRY(auto field, LookupList(type, *key));
    TRY_VOID(CheckOrder(field.merge_key, patch ? *patch : Value(), wanted));
    if (!live && !patch) return {};

    Items items;
    Items order;
    if (live) order.assign(live->items().begin(), live->items().end());
    if (!patch) {
      items = order;
    } else if (!live) {
      Value cleaned = *WithoutDirectives(*patch);
      items.assign(cleaned.items().begin(), cleaned.items().end());
    } else if (field.strategy == Strategy::kMerge) {
      TRY(items, JoinLists(ListOf(field), live->items(), patch->items(), order));
    } else {
      items.assign(patch->items().begin(), patch->items().end());
    }
    TRY(bool objects, ItemsAreObjects(order, patch ? patch->items() : std::span<const Value>()));
    TRY(items, OrderItems(field.merge_key, objects, std::move(items), wanted.items(), order));
    out.Set(value::InternName(arena_, *key), MakeList(items));
    changes.Remove(*key);
    return {};
  }

  Result<void> Field(Fields& out, const Member& change, const Type* type) {
    std::string_view key = change.key();
    const Name* name = change.name;
    bool deletes_items = key.starts_with(kDeleteFromPrimitiveList);
    if (deletes_items) {
      auto stripped = KeyAfter(key, kDeleteFromPrimitiveList);
      if (!stripped) return Fail(ErrorCode::kInvalid, "{}", kBadPrimitiveList);
      if (!stripped->empty()) name = value::InternName(arena_, key = *stripped);
    }
    if (change.value.is_null()) {
      out.Remove(key);
      return {};
    }
    const Value* current = out.Find(key);
    if (!current || current->kind() != change.value.kind()) {
      if (!deletes_items) Put(out, name, WithoutNulls(change.value));
      return {};
    }
    if (current->is_object()) {
      TRY(auto field, LookupObject(type, key));
      if (field.strategy == Strategy::kReplace) {
        out.Set(name, change.value);
        return {};
      }
      TRY(auto merged, Objects(*current, change.value, field.type));
      out.Set(name, merged);
    } else if (current->is_list()) {
      TRY(auto field, LookupList(type, key));
      TRY(auto merged, Lists(field, *current, change.value, deletes_items));
      out.Set(name, merged);
    } else {
      out.Set(name, change.value);
    }
    return {};
  }

  Result<Value> Lists(const StrategicField& field, const Value& current, const Value& patch,
                      bool deletes_items) {
    if (deletes_items && !(current.items().empty() && patch.items().empty())) {
      TRY(bool objects, ItemsAreObjects(current.items(), patch.items()));
      if (!objects) return MakeList(DeleteScalars(current.items(), patch.items()));
    }
    if (field.strategy != Strategy::kMerge && !deletes_items) return patch;
    Items order;
    TRY(auto items, JoinLists(ListOf(field), current.items(), patch.items(), order));
    return MakeList(items);
  }

  ListStrategy ListOf(const StrategicField& field) {
    return {field.merge_key, GoKind(field.type),
            [this, type = field.type](const Value& original, const Value& patch) {
              return Objects(original, patch, type);
            }};
  }

  void Put(Fields& out, const Name* name, const Value& value) {
    if (auto kept = WithoutDirectives(value)) {
      out.Set(name, *kept);
    } else {
      out.Remove(name->text());
    }
  }

  // Objects with a $patch have no meaning where nothing is to be merged with them.
  std::optional<Value> WithoutDirectives(const Value& value) {
    if (value.is_object()) {
      if (value.Find(kDirective)) return std::nullopt;
      std::vector<Member> kept;
      for (const Member& member : value.members()) {
        if (auto child = WithoutDirectives(member.value)) kept.emplace_back(member.name, *child);
      }
      auto* copy = arena_.AllocateArray<Member>(kept.size());
      std::uninitialized_copy(kept.begin(), kept.end(), copy);
      return Value::Object({copy, kept.size()});
    }
    if (!value.is_list()) return value.Shared();
    Items kept;
    for (const Value& item : value.items()) {
      if (auto child = WithoutDirectives(item)) kept.push_back(*child);
    }
    return MakeList(kept);
  }

  Value WithoutNulls(const Value& value) {
    if (value.is_object()) {
      auto* copy = arena_.AllocateArray<Member>(value.size());
      size_t count = 0;
      for (const Member& member : value.members()) {
        if (member.value.is_null()) continue;
        new (&copy[count++]) Member(member.name, WithoutNulls(member.value));
      }
      return Value::Object({copy, count});
    }
    if (!value.is_list()) return value.Shared();
    Items items;
    for (const Value& item : value.items()) items.push_back(WithoutNulls(item));
    return MakeList(items);
  }

  Value MakeList(const Items& items) {
    auto* copy = arena_.AllocateArray<Value>(items.size());
    for (size_t i = 0; i < items.size(); ++i) new (&copy[i]) Value(items[i].Shared());
    return Value::List({copy, items.size()});
  }

  Arena& arena_;
};

Status FailureStatus(const Error& error) {
  for (std::string_view bad : {kBadRetainKeys, kBadPrimitiveList, kBadSetElementOrder}) {
    if (error.message == bad) return BadRequestStatus(error.message);
  }
  Status status;
  if (error.message == kNoListOfLists) {
    status.code = 422;
    status.reason = "Invalid";
    status.message = "the server rejected our request due to an error in our request";
    status.details.emplace();
    return status;
  }
  // Upstream gives these neither reason nor details.
  status.code = 500;
  status.message = error.message;
  return status;
}

}  // namespace

Status StrategicMergeUnsupportedStatus() { return BadRequestStatus(std::string(kUnsupported)); }

ApiResult<value::Document> ApplyStrategicMergePatch(const value::Document& object,
                                                    const value::Document& patch,
                                                    const Type& type) {
  if (patch.root().is_null()) return object;
  if (!patch.root().is_object()) {
    return std::unexpected(BadRequestStatus(
        fmt::format("json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                    JsonKindText(patch.root()))));
  }
  value::Builder out(object);
  out.Adopt(patch);
  auto merged = StrategicMerge(out.arena()).Objects(object.root(), patch.root(), &type);
  if (!merged) return std::unexpected(FailureStatus(merged.error()));
  out.root().Set(*merged);
  return std::move(out).Finish();
}

}  // namespace keelson::patch
