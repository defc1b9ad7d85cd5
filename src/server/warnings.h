#pragma once

// The Warning headers of an answer: deduplicated, and kept within 4 KiB of text by cutting each to
// 256 characters once that is passed, as upstream does. Used on the request's io thread.

#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.h"

namespace keelson::server {

class Warnings {
 public:
  // Adds `299 agent "text"`; an empty agent prints as "-".
  void Add(http::Headers& headers, std::string_view agent, std::string_view text);

 private:
  struct Recorded {
    std::string agent;
    std::string text;
  };
  std::vector<Recorded> recorded_;
  size_t written_ = 0;  // characters
  bool truncating_ = false;
};

}  // namespace keelson::server
