#include "apiextensions/version_order.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <tuple>

namespace keelson::apiextensions {
namespace {

// Takes a number without leading zero off the front.
std::optional<uint64_t> TakeNumber(std::string_view& text) {
  if (text.empty() || text[0] < '1' || text[0] > '9') return std::nullopt;
  uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// stability, major, minor: the higher the better. Nothing for a version of no known form.
using Rank = std::tuple<int, uint64_t, uint64_t>;

std::optional<Rank> RankOf(std::string_view version) {
  if (!version.starts_with('v')) return std::nullopt;
  version.remove_prefix(1);
  const auto major = TakeNumber(version);
  if (!major) return std::nullopt;
  if (version.empty()) return Rank(2, *major, 0);
  int stability = 0;
  if (version.starts_with("beta")) {
    stability = 1;
    version.remove_prefix(4);
  } else if (version.starts_with("alpha")) {
    version.remove_prefix(5);
  } else {
    return std::nullopt;
  }
  if (version.empty()) return Rank(stability, *major, 0);
  const auto minor = TakeNumber(version);
  if (!minor || !version.empty()) return std::nullopt;
  return Rank(stability, *major, *minor);
}

}  // namespace

bool IsPreferredVersion(std::string_view a, std::string_view b) {
  const auto rank = RankOf(a);
  const auto other = RankOf(b);
  if (rank && other) return *rank > *other;
  if (rank || other) return rank.has_value();
  return a < b;
}

}  // namespace keelson::apiextensions
