#include "patch/field_filter.h"

#include <span>

namespace keelson::patch {
namespace {

using schema::FieldSet;
using schema::PathElement;

bool Matches(const std::string& step, const PathElement& element) {
  return step == "*" || (element.is_field() && element.field() == step);
}

using Active = std::vector<std::span<const std::string>>;

FieldSet Included(value::Arena& arena, schema::FieldSetLevels& levels, FieldSet set,
                  const Active& patterns) {
  size_t mark = levels.Open();
  for (const FieldSet::Entry& entry : set.entries()) {
    Active below;
    bool whole = false;
    for (auto pattern : patterns) {
      if (!Matches(pattern[0], entry.element)) continue;
      if (pattern.size() == 1)
        whole = true;
      else
        below.push_back(pattern.subspan(1));
    }
    if (whole) {
      levels.Add(entry);
    } else if (!below.empty()) {
      FieldSet children = Included(arena, levels, entry.children(), below);
      if (entry.member || !children.empty()) levels.Add({entry.element, entry.member, children});
    }
  }
  return levels.Close(arena, mark);
}

}  // namespace

FieldFilter FieldFilter::Exclude(FieldSet excluded) {
  FieldFilter filter;
  filter.excluded_ = excluded;
  return filter;
}

FieldFilter FieldFilter::Include(std::vector<Pattern> patterns) {
  FieldFilter filter;
  filter.included_ = std::move(patterns);
  std::erase_if(filter.included_, [](const Pattern& pattern) { return pattern.empty(); });
  return filter;
}

FieldSet FieldFilter::Apply(value::Arena& arena, FieldSet set) const {
  if (!excluded_.empty()) set = RecursiveDifference(arena, set, excluded_);
  if (included_.empty()) return set;
  schema::FieldSetLevels levels;
  return Included(arena, levels, set, Active(included_.begin(), included_.end()));
}

}  // namespace keelson::patch
