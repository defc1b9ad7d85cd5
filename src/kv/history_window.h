#pragma once

// How much history to keep: by age and by bytes.
//
// Remembers, at a coarse grain, how many bytes of log stood behind which revision when. Sans-I/O,
// not thread-safe; what was in the log when the store opened counts as having come in then.

#include <cstddef>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "kv/types.h"

namespace keelson::kv {

class HistoryWindow {
 public:
  // 0 is without limit.
  HistoryWindow(Duration age, size_t bytes) : age_(age), bytes_(bytes) {}

  // `bytes` of log were written up to and including `revision`.
  void Add(Revision revision, size_t bytes, TimePoint now);

  // History up to the result may go; nullopt when all is to be kept. Forgets what it gives out.
  std::optional<Revision> TakeExcess(TimePoint now);

  bool empty() const { return marks_.empty(); }
  size_t bytes() const { return total_; }

 private:
  // Everything up to `through` that is not in an earlier mark.
  struct Mark {
    Revision through;
    size_t bytes;
    TimePoint newest;
  };
  // Fine enough that trimming comes in steps of a few percent.
  static constexpr int kMarksPerLimit = 32;
  bool Fits(const Mark& mark, TimePoint now) const;

  const Duration age_;
  const size_t bytes_;
  std::deque<Mark> marks_;
  size_t total_ = 0;
  TimePoint opened_;  // of the youngest mark
};

}  // namespace keelson::kv
