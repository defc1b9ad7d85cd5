// The merge of apply: configuration laid over the live object, as upstream's structured-merge-diff
// does it. Leaves, and containers empty on both sides, come from the configuration where it has
// them. Items of keyed lists and sets keep the configuration's order; live-only items stay where
// they stood relative to their neighbours.

#include <algorithm>
#include <optional>
#include <vector>

#include "patch/list_items.h"
#include "patch/member_index.h"
#include "patch/typed.h"

namespace keelson::patch {
namespace {

using schema::PathElement;
using value::Member;

class Merger {
 public:
  explicit Merger(Arena& arena) : arena_(arena) {}

  // At least one side is given. Nothing when nothing is left.
  Result<std::optional<Value>> At(const TypeView& type, const Value* live, const Value* config) {
    switch (type.ShapeOf(config ? config : live)) {
      case Shape::kMap: {
        bool live_empty = !live || live->members().empty();
        bool config_empty = !config || config->members().empty();
        if (live_empty && config_empty) return Leaf(live, config);
        return Map(type, live, config);
      }
      case Shape::kList: {
        bool live_empty = !live || live->items().empty();
        bool config_empty = !config || config->items().empty();
        if (live_empty && config_empty) return Leaf(live, config);
        return List(type, live, config);
      }
      default:
        return Leaf(live, config);
    }
  }

 private:
  static std::optional<Value> Leaf(const Value* live, const Value* config) {
    return config ? config->Shared() : live->Shared();
  }

  Result<std::optional<Value>> Map(const TypeView& type, const Value* live, const Value* config) {
    auto live_members = live ? live->members() : std::span<const Member>();
    auto config_members = config ? config->members() : std::span<const Member>();
    auto* out = arena_.AllocateArray<Member>(live_members.size() + config_members.size());
    size_t count = 0;
    MemberIndex config_index(config_members);
    for (const Member& member : live_members) {
      TRY(auto merged, Child(PathElement::Field(member.key()), type.Child(*member.name),
                             &member.value, config_index.FindValue(*member.name)));
      if (merged) new (&out[count++]) Member(member.name, *merged);
    }
    MemberIndex live_index(live_members);
    for (const Member& member : config_members) {
      if (live_index.Find(*member.name) != MemberIndex::kNone) continue;
      TRY(auto merged, Child(PathElement::Field(member.key()), type.Child(*member.name), nullptr,
                             &member.value));
      if (merged) new (&out[count++]) Member(member.name, *merged);
    }
    if (count == 0) return std::nullopt;
    return Value::Object({out, count});
  }

  Result<std::optional<Value>> List(const TypeView& type, const Value* live, const Value* config);

  Result<std::optional<Value>> Child(const PathElement& element, const TypeView& type,
                                     const Value* live, const Value* config) {
    auto merged = At(type, live, config);
    if (merged) return merged;
    std::string path;
    element.AppendTo(path);
    return Fail(merged.error().code, "{}{}", path, merged.error().message);
  }

  Arena& arena_;
};

// Both lists are walked side by side. `shared` are config's items that live has too, in config's
// order: a live item that is not the next of them waits until config reaches it.
class ListMerge {
 public:
  ListMerge(const ListItems& live, const ListItems& config)
      : live_(live), config_(config), merged_(config.size(), false) {
    for (size_t i = 0; i < config.size(); ++i) {
      if (live.Has(config.element(i))) shared_.push_back(i);
    }
  }

  // Calls take(element, live item or null, config item or null) in the order of the result.
  template <typename Take>
  Result<void> Run(Take&& take) {
    size_t l = 0;
    size_t c = 0;
    while (l < live_.size() || c < config_.size()) {
      if (l < live_.size() && c < config_.size()) {
        if (live_.element(l) == config_.element(c)) {
          TRY_VOID(TakeConfig(take, c++));
          ++l;
          if (next_shared_ < shared_.size()) ++next_shared_;
          continue;
        }
        if (config_.Has(live_.element(l)) && next_shared_ < shared_.size() &&
            !(config_.element(shared_[next_shared_]) == live_.element(l))) {
          ++l;
          continue;
        }
      }
      if (l < live_.size()) {
        auto in_config = config_.Find(live_.element(l));
        if (in_config.empty()) {
          TRY_VOID(take(live_.element(l), &live_.item(l), nullptr));
          ++l;
          continue;
        }
        if (merged_[in_config[0]]) ++l;
      }
      if (c < config_.size()) {
        TRY_VOID(TakeConfig(take, c));
        if (next_shared_ < shared_.size() &&
            config_.element(shared_[next_shared_]) == config_.element(c)) {
          ++next_shared_;
        }
        ++c;
      }
    }
    return {};
  }

 private:
  template <typename Take>
  Result<void> TakeConfig(Take&& take, size_t at) {
    merged_[at] = true;
    auto in_live = live_.Find(config_.element(at));
    // Repeated live items cannot be merged with anything; upstream sees null in their place.
    static constexpr Value kNull = Value::Null();
    const Value* live = in_live.empty()      ? nullptr
                        : in_live.size() > 1 ? &kNull
                                             : &live_.item(in_live[0]);
    return take(config_.element(at), live, &config_.item(at));
  }

  const ListItems& live_;
  const ListItems& config_;
  std::vector<bool> merged_;
  std::vector<size_t> shared_;
  size_t next_shared_ = 0;
};

Result<std::optional<Value>> Merger::List(const TypeView& type, const Value* live,
                                          const Value* config) {
  TRY(auto config_items, ListItems::Make(arena_, type, config));
  TRY(auto live_items, ListItems::Make(arena_, type, live));
  for (size_t i = 0; i < config_items.size(); ++i) {
    if (config_items.Find(config_items.element(i))[0] != i) {
      std::string key;
      config_items.element(i).AppendTo(key);
      return Fail(ErrorCode::kInvalid, ": duplicate entries for key {}", key);
    }
  }
  auto* out = arena_.AllocateArray<Value>(live_items.size() + config_items.size());
  size_t count = 0;
  TypeView item_type = type.ListElement();
  TRY_VOID(ListMerge(live_items, config_items)
               .Run([&](const PathElement& element, const Value* live_item,
                        const Value* config_item) -> Result<void> {
                 TRY(auto merged, Child(element, item_type, live_item, config_item));
                 if (merged) new (&out[count++]) Value(*merged);
                 return {};
               }));
  if (count == 0) return std::nullopt;
  return Value::List({out, count});
}

}  // namespace

Result<Value> MergeTyped(Arena& arena, const schema::Type& type, const Value& live,
                         const Value& config) {
  TRY(auto merged, Merger(arena).At(TypeView(type), &live, &config));
  return merged ? *merged : Value();
}

}  // namespace keelson::patch
