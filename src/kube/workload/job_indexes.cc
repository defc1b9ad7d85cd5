// Lists of indexes: "1,3-5,7".

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/quote.h"
#include "kube/workload/job.h"

namespace keelson::kube::workload {
namespace {

struct Interval {
  int32_t first = 0;
  int32_t last = 0;
};

Result<int32_t> ParseIndex(std::string_view text, int32_t completions) {
  const auto digits = text.substr(text.starts_with('+') ? 1 : 0);
  int64_t index = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Fail(ErrorCode::kInvalid, "cannot convert string to integer for index: {}", Quote(text));
  }
  if (index >= completions) return Fail(ErrorCode::kInvalid, "too large index: {}", Quote(text));
  return static_cast<int32_t>(index);
}

Result<Interval> ParseInterval(std::string_view text, int32_t completions) {
  const auto dash = text.find('-');
  if (std::ranges::count(text, '-') > 1) {
    return Fail(ErrorCode::kInvalid,
                "the fragment {} violates the requirement that an index interval can have at most "
                "two parts separated by '-'",
                Quote(text));
  }
  TRY(int32_t first, ParseIndex(text.substr(0, dash), completions));
  if (dash == std::string_view::npos) return Interval{first, first};
  TRY(int32_t last, ParseIndex(text.substr(dash + 1), completions));
  if (first >= last) {
    return Fail(ErrorCode::kInvalid, "non-increasing order, previous: {}, current: {}", first,
                last);
  }
  return Interval{first, last};
}

// The intervals of a list, one after the other.
class IntervalReader {
 public:
  IntervalReader(std::string_view list, int32_t completions)
      : rest_(list), completions_(completions) {
    Next();
  }

  bool done() const { return done_; }
  const Result<Interval>& current() const { return current_; }

  void Next() {
    if (last_) {
      done_ = true;
      return;
    }
    const auto comma = rest_.find(',');
    current_ = ParseInterval(rest_.substr(0, comma), completions_);
    last_ = comma == std::string_view::npos;
    if (!last_) rest_.remove_prefix(comma + 1);
  }

 private:
  std::string_view rest_;
  int32_t completions_;
  Result<Interval> current_;
  bool last_ = false;
  bool done_ = false;
};

}  // namespace

Result<int32_t> CountIndexes(std::string_view indexes, int32_t completions) {
  if (indexes.empty()) return 0;
  std::optional<int32_t> previous;
  int32_t count = 0;
  for (IntervalReader reader(indexes, completions); !reader.done(); reader.Next()) {
    if (!reader.current()) return std::unexpected(reader.current().error());
    const Interval interval = *reader.current();
    if (previous && *previous >= interval.first) {
      return Fail(ErrorCode::kInvalid, "non-increasing order, previous: {}, current: {}", *previous,
                  interval.first);
    }
    count += interval.last - interval.first + 1;
    previous = interval.last;
  }
  return count;
}

Result<void> CheckDisjointIndexes(std::string_view completed, std::string_view failed,
                                  int32_t completions) {
  if (completed.empty() || failed.empty()) return {};
  IntervalReader done(completed, completions);
  IntervalReader lost(failed, completions);
  while (!done.done() && !lost.done()) {
    if (!done.current()) {
      done.Next();
    } else if (!lost.current()) {
      lost.Next();
    } else if (done.current()->first <= lost.current()->last &&
               lost.current()->first <= done.current()->last) {
      return Fail(ErrorCode::kInvalid, "failedIndexes and completedIndexes overlap at index: {}",
                  std::max(done.current()->first, lost.current()->first));
    } else if (done.current()->first <= lost.current()->first) {
      done.Next();
    } else {
      lost.Next();
    }
  }
  return {};
}

}  // namespace keelson::kube::workload
