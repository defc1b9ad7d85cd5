#include "rest/body.h"

namespace keelson::rest {

std::vector<Slice> Body::Take() {
  std::vector<Slice> slices;
  slices.reserve(2 * shared_.size() + 1);
  const Slice text = Slice::Own(std::exchange(text_, {}));
  size_t from = 0;
  for (auto& [at, shared] : shared_) {
    if (at > from) slices.push_back(text.Sub(from, at - from));
    from = at;
    slices.push_back(std::move(shared));
  }
  if (from < text.size()) slices.push_back(text.Sub(from));
  shared_.clear();
  shared_size_ = 0;
  return slices;
}

}  // namespace keelson::rest
