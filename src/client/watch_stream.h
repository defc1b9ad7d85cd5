#pragma once

// The events of one watch, as they come.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/task.h"
#include "client/transport.h"
#include "value/document.h"

namespace keelson::client {

struct WatchEvent {
  enum class Type : uint8_t { kAdded, kModified, kDeleted, kBookmark };
  Type type = Type::kAdded;
  value::Document object;
};

// Cuts a stream of bytes into the lines of a watch. Pure; for one thread.
class WatchFrames {
 public:
  explicit WatchFrames(size_t max_line) : max_line_(max_line) {}

  // kTooLarge when a line does not end in time.
  Result<void> Feed(std::string_view bytes);
  // The next whole line, without its end; empty lines are left out. Valid until the next call.
  std::optional<std::string_view> Next();

 private:
  const size_t max_line_;
  std::string held_;
  size_t begin_ = 0;    // of what has not been handed out
  size_t scanned_ = 0;  // how far there is no line end
};

// The event in a line; an ERROR event is the Status it carries.
ApiResult<WatchEvent> ParseWatchEvent(std::string_view line);

class WatchStream {
 public:
  static constexpr size_t kMaxLine = size_t{64} << 20;

  explicit WatchStream(std::unique_ptr<Answer> answer)
      : answer_(std::move(answer)), frames_(kMaxLine) {}

  // Nothing when the server has ended the watch. After a failure there is nothing more to come.
  Task<ApiResult<std::optional<WatchEvent>>> Next();

 private:
  std::unique_ptr<Answer> answer_;
  WatchFrames frames_;
};

}  // namespace keelson::client
