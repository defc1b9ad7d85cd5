#pragma once

// The options of each verb, read from the URL's parameters and checked as upstream checks them.
//
// Reading fails with 400 (a number that is none), checking with 422 about "ListOptions" and the
// like. Unknown parameters are ignored. Booleans are true unless absent, "0" or "false".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/query.h"
#include "rest/media_type.h"
#include "schema/field_error.h"

namespace keelson::rest {

struct GetOptions {
  std::string resource_version;
};

struct ListOptions {
  std::string label_selector;
  std::string field_selector;
  bool watch = false;
  bool allow_watch_bookmarks = false;
  std::string resource_version;
  std::string resource_version_match;
  std::optional<int64_t> timeout_seconds;
  int64_t limit = 0;
  std::string continue_token;
  std::optional<bool> send_initial_events;
};

// What a row of a table shows of its object besides the cells.
enum class IncludeObject : uint8_t { kMetadata, kObject, kNone };

// What happens to fields the server does not know.
enum class FieldValidation : uint8_t { kIgnore, kWarn, kStrict };

// Options of create, update and patch.
struct WriteOptions {
  std::vector<std::string> dry_run;
  std::string field_manager;
  std::string field_validation;
  std::optional<bool> force;  // patch only

  bool is_dry_run() const { return !dry_run.empty(); }
  // Warn unless told otherwise.
  FieldValidation validation() const;
};

struct Preconditions {
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
};

struct DeleteOptions {
  std::optional<int64_t> grace_period_seconds;
  std::optional<Preconditions> preconditions;
  std::optional<bool> orphan_dependents;
  std::optional<std::string> propagation_policy;
  std::vector<std::string> dry_run;
  std::optional<bool> ignore_store_read_error;

  bool is_dry_run() const { return !dry_run.empty(); }
};

ApiResult<GetOptions> ReadGetOptions(const http::Query& query);
// What rows of a table show of their objects; fails with 400.
ApiResult<IncludeObject> ReadIncludeObject(const http::Query& query);
// `force_watch` is for the deprecated /watch/ paths.
ApiResult<ListOptions> ReadListOptions(const http::Query& query, bool force_watch = false);
ApiResult<WriteOptions> ReadCreateOptions(const http::Query& query);
ApiResult<WriteOptions> ReadUpdateOptions(const http::Query& query);
ApiResult<WriteOptions> ReadPatchOptions(const http::Query& query, PatchType type);
// From parameters alone; a body, when there is one, is decoded by the caller and then checked.
ApiResult<DeleteOptions> ReadDeleteOptions(const http::Query& query);
ApiResult<void> CheckDeleteOptions(const DeleteOptions& options);

// Complaints about the name of a field manager; also used for managedFields entries.
void CheckFieldManager(std::string_view manager, const value::Path& path,
                       schema::FieldErrors& errors);

// The manager to record for a writer that named none: its user agent up to the first '/', without
// unprintable characters, cut to 128 bytes.
std::string ManagerFromUserAgent(std::string_view user_agent);

}  // namespace keelson::rest
