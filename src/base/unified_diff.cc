// Ratcliff and Obershelp's matching, as difflib refines it: the longest run of equal lines, then
// the same to its left and right. Lines that are too common in a long text to tell anything apart
// do not begin a match; they may only extend one.

#include "base/unified_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace keelson {
namespace {

using Lines = std::vector<std::string_view>;

constexpr size_t kContext = 3;
constexpr size_t kLongText = 200;

Lines SplitLines(std::string_view text) {
  Lines lines;
  for (;;) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

struct Match {
  size_t a = 0;
  size_t b = 0;
  size_t size = 0;
};

// Lines [a_begin, a_end) of one text against [b_begin, b_end) of the other.
struct Region {
  size_t a_begin, a_end, b_begin, b_end;
};

class Matcher {
 public:
  Matcher(const Lines& a, const Lines& b) : a_(a), b_(b) {
    for (size_t i = 0; i < b.size(); ++i) places_[b[i]].push_back(i);
    if (b.size() < kLongText) return;
    const size_t limit = b.size() / 100 + 1;
    std::erase_if(places_, [&](const auto& entry) { return entry.second.size() > limit; });
  }

  // All matches in order, adjacent ones joined, ended by an empty one.
  std::vector<Match> Matches() const {
    std::vector<Match> found;
    std::vector<Region> regions{{0, a_.size(), 0, b_.size()}};
    while (!regions.empty()) {
      const Region region = regions.back();
      regions.pop_back();
      const Match match = Longest(region);
      if (match.size == 0) continue;
      found.push_back(match);
      if (region.a_begin < match.a && region.b_begin < match.b) {
        regions.push_back({region.a_begin, match.a, region.b_begin, match.b});
      }
      const size_t a_after = match.a + match.size;
      const size_t b_after = match.b + match.size;
      if (a_after < region.a_end && b_after < region.b_end) {
        regions.push_back({a_after, region.a_end, b_after, region.b_end});
      }
    }
    std::ranges::sort(found, {}, &Match::a);
    std::vector<Match> joined;
    for (const Match& match : found) {
      if (!joined.empty() && joined.back().a + joined.back().size == match.a &&
          joined.back().b + joined.back().size == match.b) {
        joined.back().size += match.size;
      } else {
        joined.push_back(match);
      }
    }
    joined.push_back({a_.size(), b_.size(), 0});
    return joined;
  }

 private:
  Match Longest(const Region& region) const {
    Match best{region.a_begin, region.b_begin, 0};
    // Length of the match that ends at each line of b, for the line of a before this one.
    std::unordered_map<size_t, size_t> lengths;
    for (size_t i = region.a_begin; i < region.a_end; ++i) {
      std::unordered_map<size_t, size_t> next;
      const auto places = places_.find(a_[i]);
      if (places != places_.end()) {
        for (size_t j : places->second) {
          if (j < region.b_begin) continue;
          if (j >= region.b_end) break;
          const auto before = j == 0 ? lengths.end() : lengths.find(j - 1);
          const size_t length = (before == lengths.end() ? 0 : before->second) + 1;
          next[j] = length;
          if (length > best.size) best = {i + 1 - length, j + 1 - length, length};
        }
      }
      lengths = std::move(next);
    }
    while (best.a > region.a_begin && best.b > region.b_begin && a_[best.a - 1] == b_[best.b - 1]) {
      --best.a, --best.b, ++best.size;
    }
    while (best.a + best.size < region.a_end && best.b + best.size < region.b_end &&
           a_[best.a + best.size] == b_[best.b + best.size]) {
      ++best.size;
    }
    return best;
  }

  const Lines& a_;
  const Lines& b_;
  std::unordered_map<std::string_view, std::vector<size_t>> places_;
};

struct Step {
  bool equal = false;
  Region region;
};

std::vector<Step> StepsOf(const Lines& a, const Lines& b) {
  std::vector<Step> steps;
  size_t i = 0;
  size_t j = 0;
  for (const Match& match : Matcher(a, b).Matches()) {
    if (i < match.a || j < match.b) steps.push_back({false, {i, match.a, j, match.b}});
    i = match.a + match.size;
    j = match.b + match.size;
    if (match.size > 0) steps.push_back({true, {match.a, i, match.b, j}});
  }
  return steps;
}

// Changes with their context, those that are near each other together.
std::vector<std::vector<Step>> HunksOf(std::vector<Step> steps) {
  if (steps.front().equal) {
    auto& region = steps.front().region;
    region.a_begin = std::max(region.a_begin, region.a_end - std::min(region.a_end, kContext));
    region.b_begin = std::max(region.b_begin, region.b_end - std::min(region.b_end, kContext));
  }
  if (steps.back().equal) {
    auto& region = steps.back().region;
    region.a_end = std::min(region.a_end, region.a_begin + kContext);
    region.b_end = std::min(region.b_end, region.b_begin + kContext);
  }
  std::vector<std::vector<Step>> hunks;
  std::vector<Step> hunk;
  for (Step step : steps) {
    auto& region = step.region;
    if (step.equal && region.a_end - region.a_begin > 2 * kContext) {
      hunk.push_back({true,
                      {region.a_begin, std::min(region.a_end, region.a_begin + kContext),
                       region.b_begin, std::min(region.b_end, region.b_begin + kContext)}});
      hunks.push_back(std::move(hunk));
      hunk.clear();
      region.a_begin = std::max(region.a_begin, region.a_end - kContext);
      region.b_begin = std::max(region.b_begin, region.b_end - kContext);
    }
    hunk.push_back(step);
  }
  if (!hunk.empty() && !(hunk.size() == 1 && hunk.front().equal)) hunks.push_back(std::move(hunk));
  return hunks;
}

std::string ShowRange(size_t begin, size_t end) {
  if (end - begin == 1) return std::to_string(begin + 1);
  return fmt::format("{},{}", end == begin ? begin : begin + 1, end - begin);
}

void AppendLines(std::string& out, char mark, const Lines& lines, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    out += mark;
    out += lines[i];
    out += '\n';
  }
}

}  // namespace

std::string UnifiedDiff(std::string_view before, std::string_view after) {
  if (before == after) return {};
  const Lines a = SplitLines(before);
  const Lines b = SplitLines(after);
  std::string out;
  for (const auto& hunk : HunksOf(StepsOf(a, b))) {
    fmt::format_to(std::back_inserter(out), "@@ -{} +{} @@\n",
                   ShowRange(hunk.front().region.a_begin, hunk.back().region.a_end),
                   ShowRange(hunk.front().region.b_begin, hunk.back().region.b_end));
    for (const Step& step : hunk) {
      const auto& region = step.region;
      if (step.equal) {
        AppendLines(out, ' ', a, region.a_begin, region.a_end);
      } else {
        AppendLines(out, '-', a, region.a_begin, region.a_end);
        AppendLines(out, '+', b, region.b_begin, region.b_end);
      }
    }
  }
  return out;
}

}  // namespace keelson
