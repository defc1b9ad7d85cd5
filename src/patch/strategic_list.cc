#include "patch/strategic_list.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "patch/go_text.h"

namespace keelson::patch {
namespace {

using value::Value;

constexpr size_t kNotFound = ~size_t{0};

struct Before {
  bool operator()(const Value& a, const Value& b) const { return value::Compare(a, b) < 0; }
};

// Finds the first item with a key, or the first scalar equal to one, without walking the list for
// each question.
class KeyIndex {
 public:
  KeyIndex(std::string_view merge_key, std::span<const Value> items) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (merge_key.empty()) {
        positions_.try_emplace(items[i], i);
      } else if (!items[i].is_object()) {
        first_other_ = std::min(first_other_, i);
      } else if (const Value* key = items[i].Find(merge_key)) {
        positions_.try_emplace(*key, i);
      }
    }
  }

  size_t Find(const Value& key) const {
    auto at = positions_.find(key);
    return at == positions_.end() ? kNotFound : at->second;
  }
  // Upstream walks the list and stumbles over what is no object before it finds the item.
  Result<size_t> FindObject(const Value& key) const {
    size_t found = Find(key);
    if (first_other_ < found) {
      return Fail(ErrorCode::kInvalid, "value for key {} is not a map", first_other_);
    }
    return found;
  }
  void Add(const Value& key, size_t position) { positions_.try_emplace(key, position); }

 private:
  std::map<Value, size_t, Before> positions_;
  size_t first_other_ = kNotFound;
};

Value KeyOf(std::string_view merge_key, const Value& item) {
  return merge_key.empty() ? item : item[merge_key];
}

// Later repetitions go; the gap is filled with the last item, which is how upstream's order of a
// list with repetitions comes about.
Items Deduplicate(Items items) {
  std::map<Value, std::set<size_t>, Before> positions;
  for (size_t i = 0; i < items.size(); ++i) positions[items[i]].insert(i);
  for (size_t i = 0; i < items.size(); ++i) {
    auto& same = positions[items[i]];
    for (auto next = same.upper_bound(i); next != same.end(); next = same.upper_bound(i)) {
      size_t gap = *next;
      size_t last = items.size() - 1;
      same.erase(gap);
      if (gap != last) {
        auto& moved = positions[items[last]];
        moved.erase(last);
        moved.insert(gap);
        items[gap] = items[last];
      }
      items.pop_back();
    }
  }
  return items;
}

// Directives among the patch's objects: deletions are carried out on `original`, `replace` makes
// the rest of the patch the whole list. Upstream deletes inside the live list's own array, whose
// tail then still shows what was there; `array` keeps that view.
Result<std::optional<Items>> TakeDirectives(std::string_view merge_key,
                                            std::span<const Value> patch, Items& original,
                                            Items& array) {
  Items plain;
  bool replace = false;
  for (const Value& item : patch) {
    const Value* directive = item.Find(kDirective);
    if (!directive) {
      plain.push_back(item);
      continue;
    }
    std::string_view text = directive->AsString();
    if (text == "replace") {
      replace = true;
    } else if (text == "merge") {
      return Fail(ErrorCode::kInvalid, "merging lists cannot yet be specified in the patch");
    } else if (text != "delete") {
      return BadDirective(*directive, item);
    } else {
      const Value* key = item.Find(merge_key);
      if (!key) return NoMergeKey(item, merge_key);
      size_t before = original.size();
      std::erase_if(original, [&](const Value& live) {
        const Value* live_key = live.Find(merge_key);
        return live_key && *live_key == *key;
      });
      if (original.size() < before) std::copy(original.begin(), original.end(), array.begin());
    }
  }
  if (!replace) return std::optional<Items>(std::move(plain));
  original = std::move(plain);
  return std::optional<Items>();
}

Result<void> MergeObjects(const ListStrategy& strategy, std::span<const Value> patch,
                          Items& merged) {
  KeyIndex index(strategy.merge_key, merged);
  for (const Value& item : patch) {
    const Value* key = item.Find(strategy.merge_key);
    if (!key) return NoMergeKey(item, strategy.merge_key);
    size_t at = index.Find(*key);
    if (at == kNotFound) {
      index.Add(*key, merged.size());
      merged.push_back(item);
    } else {
      TRY(merged[at], strategy.merge(merged[at], item));
    }
  }
  return {};
}

Result<void> RequireKeys(std::string_view merge_key, std::span<const Value> items) {
  for (const Value& item : items) {
    if (!item.is_object()) return WrongGoType("map[string]interface {}", item);
    if (!item.Find(merge_key)) return NoMergeKey(item, merge_key);
  }
  return {};
}

bool IsDeletion(const Value& item) { return item[kDirective].AsString() == "delete"; }

// Sorts positions by rank, keeping equals in place. Upstream's comparison calls every item without
// a rank smaller than its neighbour, and what its insertion sort makes of that is seen in short
// lists.
void SortByRank(std::vector<std::pair<size_t, size_t>>& ranked) {
  constexpr size_t kInsertionSort = 20;
  bool unranked = std::any_of(ranked.begin(), ranked.end(),
                              [](const auto& entry) { return entry.first == kNotFound; });
  if (!unranked || ranked.size() > kInsertionSort) {
    std::sort(ranked.begin(), ranked.end());
    return;
  }
  for (size_t i = 1; i < ranked.size(); ++i) {
    for (size_t j = i; j > 0; --j) {
      size_t right = ranked[j].first;
      size_t left = ranked[j - 1].first;
      if (right != kNotFound && left != kNotFound && right >= left) break;
      std::swap(ranked[j], ranked[j - 1]);
    }
  }
}

// Sorts by the position in `order`; deletions that are left over go last.
Result<Items> SortBy(std::string_view merge_key, bool objects, Items items,
                     std::span<const Value> order) {
  Items deletions;
  if (objects) {
    TRY_VOID(RequireKeys(merge_key, items));
    TRY_VOID(RequireKeys(merge_key, order));
    for (const Value& item : items) {
      if (IsDeletion(item)) deletions.push_back(item);
    }
    std::erase_if(items, IsDeletion);
  }
  KeyIndex index(objects ? merge_key : std::string_view(), order);
  std::vector<std::pair<size_t, size_t>> ranked;  // position in the order, position now
  ranked.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    ranked.emplace_back(index.Find(objects ? KeyOf(merge_key, items[i]) : items[i]), i);
  }
  SortByRank(ranked);
  Items sorted;
  sorted.reserve(items.size() + deletions.size());
  for (auto [rank, position] : ranked) sorted.push_back(items[position]);
  sorted.insert(sorted.end(), deletions.begin(), deletions.end());
  return sorted;
}

// Live-only items are put before the first patch item that the live list had behind them.
Items Interleave(std::string_view merge_key, bool objects, const Items& live_only,
                 const Items& patched, std::span<const Value> live) {
  KeyIndex index(objects ? merge_key : std::string_view(), live);
  auto rank = [&](const Value& item) {
    return index.Find(objects ? KeyOf(merge_key, item) : item);
  };
  Items out;
  out.reserve(live_only.size() + patched.size());
  size_t l = 0;
  size_t p = 0;
  while (l < live_only.size() && p < patched.size()) {
    size_t left = rank(live_only[l]);
    size_t right = rank(patched[p]);
    bool before = left != kNotFound && right != kNotFound && left < right;
    out.push_back(before ? live_only[l++] : patched[p++]);
  }
  out.insert(out.end(), live_only.begin() + static_cast<ptrdiff_t>(l), live_only.end());
  out.insert(out.end(), patched.begin() + static_cast<ptrdiff_t>(p), patched.end());
  return out;
}

}  // namespace

std::unexpected<Error> WrongGoType(std::string_view expected, const Value& actual) {
  return Fail(ErrorCode::kInvalid, "expected a {}, but received a {}", expected,
              actual.is_null() ? "%!s(<nil>)" : GoTypeName(actual));
}

std::unexpected<Error> NoMergeKey(const Value& object, std::string_view key) {
  return Fail(ErrorCode::kInvalid, "map: {} does not contain declared merge key: {}",
              GoPlain(object), key);
}

std::unexpected<Error> BadDirective(const Value& directive, const Value& object) {
  std::string shown = GoPlain(directive);
  if (!directive.is_string()) shown = fmt::format("%!s({}={})", GoTypeName(directive), shown);
  return Fail(ErrorCode::kInvalid, "unknown patch type: {} in map: {}", shown, GoPlain(object));
}

Result<bool> ItemsAreObjects(std::span<const Value> a, std::span<const Value> b) {
  std::optional<value::Kind> kind;
  for (auto items : {a, b}) {
    for (const Value& item : items) {
      if (!kind && item.is_list()) return Fail(ErrorCode::kInvalid, "{}", kNoListOfLists);
      if (item.is_null() || (kind && *kind != item.kind())) {
        return Fail(ErrorCode::kInvalid, "list element types are not identical: [{} {}]",
                    GoPlain(Value::List(a)), GoPlain(Value::List(b)));
      }
      kind = item.kind();
    }
  }
  if (!kind) return Fail(ErrorCode::kInvalid, "no elements in any of the given slices");
  return *kind == value::Kind::kObject;
}

Items DeleteScalars(std::span<const Value> original, std::span<const Value> deleted) {
  KeyIndex index("", deleted);
  Items out;
  for (const Value& item : original) {
    if (index.Find(item) == kNotFound) out.push_back(item);
  }
  return out;
}

Result<void> CheckOrder(std::string_view merge_key, const Value& patch, const Value& wanted) {
  if (wanted.items().empty() || patch.items().empty()) return {};
  Items kept;
  for (const Value& item : patch.items()) {
    if (!merge_key.empty()) {
      if (!item.is_object()) return WrongGoType("map[string]interface {}", item);
      if (IsDeletion(item)) continue;
    }
    kept.push_back(item);
  }
  auto order = wanted.items();
  size_t p = 0;
  size_t o = 0;
  while (p < kept.size() && o < order.size()) {
    if (kept[p].Find(kDirective)) {
      ++p;
      continue;
    }
    if (!merge_key.empty()) {
      TRY_VOID(RequireKeys(merge_key, {&kept[p], 1}));
      TRY_VOID(RequireKeys(merge_key, order.subspan(o, 1)));
    }
    if (KeyOf(merge_key, kept[p]) == KeyOf(merge_key, order[o])) ++p;
    ++o;
  }
  if (p < kept.size() && o >= order.size()) {
    return Fail(ErrorCode::kInvalid,
                "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
                GoPlain(patch), GoPlain(wanted));
  }
  return {};
}

Result<Items> OrderItems(std::string_view merge_key, bool objects, Items items,
                         std::span<const Value> wanted, std::span<const Value> live) {
  KeyIndex index(merge_key, wanted);
  Items named;
  Items others;
  for (const Value& item : items) {
    size_t at = kNotFound;
    if (merge_key.empty()) {
      at = index.Find(item);
    } else {
      if (!item.is_object()) return WrongGoType("map[string]interface {}", item);
      const Value* key = item.Find(merge_key);
      if (!key) return NoMergeKey(item, merge_key);
      TRY(at, index.FindObject(*key));
    }
    (at == kNotFound ? others : named).push_back(item);
  }
  TRY(named, SortBy(merge_key, objects, std::move(named), wanted));
  TRY(others, SortBy(merge_key, objects, std::move(others), live));
  return Interleave(merge_key, objects, others, named, live);
}

Result<Items> JoinLists(const ListStrategy& strategy, std::span<const Value> original,
                        std::span<const Value> patch, Items& order) {
  order.assign(original.begin(), original.end());
  if (original.empty() && patch.empty()) return Items();
  TRY(bool objects, ItemsAreObjects(original, patch));
  Items merged(original.begin(), original.end());
  Items live = merged;
  Items plain(patch.begin(), patch.end());
  if (!objects) {
    merged.insert(merged.end(), patch.begin(), patch.end());
    merged = Deduplicate(std::move(merged));
  } else {
    if (strategy.merge_key.empty()) {
      return Fail(ErrorCode::kInvalid, "cannot merge lists without merge key for {}",
                  strategy.element_kind);
    }
    TRY(auto rest, TakeDirectives(strategy.merge_key, patch, merged, order));
    plain = rest ? *rest : Items();
    live = merged;
    TRY_VOID(MergeObjects(strategy, plain, merged));
    // Items appended to a list that deletions have shortened land in its old array.
    if (rest) std::copy_n(merged.begin(), std::min(merged.size(), order.size()), order.begin());
  }
  return OrderItems(strategy.merge_key, objects, std::move(merged), plain, live);
}

}  // namespace keelson::patch
