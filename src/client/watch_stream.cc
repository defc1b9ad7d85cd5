#include "client/watch_stream.h"

#include <utility>

#include "client/api_client.h"
#include "value/json.h"

namespace keelson::client {
namespace {

struct TypeName {
  std::string_view name;
  WatchEvent::Type type;
};
constexpr TypeName kTypes[] = {{"ADDED", WatchEvent::Type::kAdded},
                               {"MODIFIED", WatchEvent::Type::kModified},
                               {"DELETED", WatchEvent::Type::kDeleted},
                               {"BOOKMARK", WatchEvent::Type::kBookmark}};

}  // namespace

Result<void> WatchFrames::Feed(std::string_view bytes) {
  if (begin_ > 0) {
    held_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  held_ += bytes;
  if (held_.size() > max_line_ && held_.find('\n', scanned_) == std::string::npos) {
    return Fail(ErrorCode::kTooLarge, "a watch event is longer than {} bytes", max_line_);
  }
  return {};
}

std::optional<std::string_view> WatchFrames::Next() {
  for (;;) {
    const auto end = held_.find('\n', scanned_);
    if (end == std::string::npos) {
      scanned_ = held_.size();
      return std::nullopt;
    }
    const auto line = std::string_view(held_).substr(begin_, end - begin_);
    begin_ = scanned_ = end + 1;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return line;
  }
}

ApiResult<WatchEvent> ParseWatchEvent(std::string_view line) {
  auto frame = value::ParseJson(line);
  if (!frame) return std::unexpected(InternalErrorStatus(frame.error().message));
  const auto type = frame->root()["type"].AsString();
  const auto object = frame->root()["object"];
  if (type == "ERROR") return std::unexpected(StatusOf(object, 500));
  for (const auto& known : kTypes) {
    if (known.name == type) return WatchEvent{known.type, frame->Part(object)};
  }
  return std::unexpected(InternalErrorStatus("unknown watch event"));
}

Task<ApiResult<std::optional<WatchEvent>>> WatchStream::Next() {
  for (;;) {
    if (auto line = frames_.Next()) {
      auto event = ParseWatchEvent(*line);
      if (!event) co_return std::unexpected(std::move(event).error());
      co_return std::move(*event);
    }
    auto piece = co_await answer_->body().Read();
    if (!piece) co_return std::unexpected(NoAnswer(piece.error()));
    if (piece->view().empty()) co_return std::nullopt;
    if (auto fed = frames_.Feed(piece->view()); !fed) {
      co_return std::unexpected(NoAnswer(fed.error()));
    }
  }
}

}  // namespace keelson::client
