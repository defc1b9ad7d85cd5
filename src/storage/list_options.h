#pragma once

// What a client may say about a list or a watch, and what that means.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"
#include "kv/types.h"
#include "selector/field_selector.h"
#include "selector/label_selector.h"

namespace keelson::storage {

using kv::Revision;

struct ListOptions {
  std::string ns;    // empty: all namespaces, or a cluster-scoped resource
  std::string name;  // empty: all names
  selector::LabelSelector labels;
  selector::FieldSelector fields;  // resolved: in the names of ResourceOptions::fields
  std::string resource_version;
  std::string resource_version_match;
  int64_t limit = 0;
  std::string continue_token;
  // For watches.
  std::optional<bool> send_initial_events;
  bool allow_bookmarks = false;
  std::optional<TimePoint> deadline;
};

// A watch from no or any version begins with what there is.
void DefaultWatchOptions(ListOptions& options);

// The 422 that upstream answers when options contradict each other.
std::optional<Status> ValidateOptions(const ListOptions& options, bool is_watch);

// "" and "0" are 0. Fails with upstream's sentence.
Result<Revision> ParseResourceVersion(std::string_view text);

// 504 for a version that this server has not reached; `retry_after` 0 leaves it out.
Status TooLargeResourceVersion(Revision wanted, Revision current, int retry_after);

}  // namespace keelson::storage
