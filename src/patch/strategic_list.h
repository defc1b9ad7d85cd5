#pragma once

// The lists of strategic merge: joined by key or by value, and put in order.
//
// Inside the module only. The sentences are upstream's; `kBadPatch...` are the ones it answers with
// 400 instead of 500.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/arena.h"
#include "value/value.h"

namespace keelson::patch {

inline constexpr std::string_view kDirective = "$patch";
inline constexpr std::string_view kBadSetElementOrder =
    "invalid patch format of setElementOrder list";
inline constexpr std::string_view kNoListOfLists = "lists of lists are not supported";

using Items = std::vector<value::Value>;

// How two items with the same key become one.
using MergeItems =
    std::function<Result<value::Value>(const value::Value& original, const value::Value& patch)>;

struct ListStrategy {
  std::string_view merge_key;     // empty for lists of scalars
  std::string_view element_kind;  // Go's, for a message
  MergeItems merge;
};

// Joins the patch's items into the original's. `order` is left with the original's items in the
// order that decides where live-only items go.
Result<Items> JoinLists(const ListStrategy& strategy, std::span<const value::Value> original,
                        std::span<const value::Value> patch, Items& order);
// The original's scalars without those of `deleted`.
Items DeleteScalars(std::span<const value::Value> original, std::span<const value::Value> deleted);
// Whether the items are scalars (false) or objects (true); a mixture, lists or no item at all fail.
Result<bool> ItemsAreObjects(std::span<const value::Value> a, std::span<const value::Value> b);

// $setElementOrder: `items` in the order of `wanted`, with the items it does not name put where
// `live` had them relative to their neighbours.
Result<Items> OrderItems(std::string_view merge_key, bool objects, Items items,
                         std::span<const value::Value> wanted, std::span<const value::Value> live);
// Whether the patch's items appear in the order list, in its order.
Result<void> CheckOrder(std::string_view merge_key, const value::Value& patch,
                        const value::Value& wanted);

// map[string]interface {} where a list was expected, and the like.
std::unexpected<Error> WrongGoType(std::string_view expected, const value::Value& actual);
std::unexpected<Error> NoMergeKey(const value::Value& object, std::string_view key);
std::unexpected<Error> BadDirective(const value::Value& directive, const value::Value& object);

}  // namespace keelson::patch
