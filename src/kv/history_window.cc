#include "kv/history_window.h"

namespace keelson::kv {

bool HistoryWindow::Fits(const Mark& mark, TimePoint now) const {
  if (bytes_ != 0 && mark.bytes >= bytes_ / kMarksPerLimit) return false;
  return age_ == Duration::zero() || now - opened_ < age_ / kMarksPerLimit;
}

void HistoryWindow::Add(Revision revision, size_t bytes, TimePoint now) {
  if (marks_.empty() || !Fits(marks_.back(), now)) {
    marks_.push_back({revision, 0, now});
    opened_ = now;
  }
  Mark& mark = marks_.back();
  mark.through = revision;
  mark.bytes += bytes;
  mark.newest = now;
  total_ += bytes;
}

std::optional<Revision> HistoryWindow::TakeExcess(TimePoint now) {
  std::optional<Revision> through;
  while (!marks_.empty()) {
    const Mark& oldest = marks_.front();
    bool old = age_ != Duration::zero() && now - oldest.newest >= age_;
    bool much = bytes_ != 0 && total_ > bytes_;
    if (!old && !much) break;
    through = oldest.through;
    total_ -= oldest.bytes;
    marks_.pop_front();
  }
  return through;
}

}  // namespace keelson::kv
