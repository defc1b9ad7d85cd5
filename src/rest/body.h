#pragma once

// Body: an answer being put together from text made for it and slices shared with the cache.
//
// Text of many small pieces ends up in one block, so a page of a list costs two slices per object
// and one allocation.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace keelson::rest {

class Body {
 public:
  // Append to it what comes next.
  std::string& text() { return text_; }
  // Puts `slice` behind all text so far.
  void Share(Slice slice) {
    shared_size_ += slice.size();
    shared_.emplace_back(text_.size(), std::move(slice));
  }

  size_t size() const { return text_.size() + shared_size_; }
  bool empty() const { return size() == 0; }

  // Everything since the last time, in order.
  std::vector<Slice> Take();

 private:
  std::string text_;
  size_t shared_size_ = 0;
  std::vector<std::pair<size_t, Slice>> shared_;  // how much text stands in front
};

}  // namespace keelson::rest
