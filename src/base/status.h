#pragma once

// Status: the meta/v1 Status object, what every failed request is answered with.
//
// A plain value; the functions below make the ones that generic code needs, in upstream's words.
// Modules that know resources (rest and above) add their own.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace keelson {

struct StatusCause {
  std::string reason;  // JSON "reason", for example FieldValueRequired
  std::string message;
  std::string field;
  bool operator==(const StatusCause&) const = default;
};

struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<StatusCause> causes;
  int32_t retry_after_seconds = 0;
  bool operator==(const StatusDetails&) const = default;
};

struct Status {
  int code = 500;
  std::string reason;
  std::string message;
  std::optional<StatusDetails> details;
  bool success = false;  // "Success" instead of "Failure"
  // metadata.continue: where a list that expired between two pages can be taken up again.
  std::string continue_token;

  // The object's JSON as upstream writes it: no white space, no trailing newline, HTML-safe
  // escaping, empty fields left out.
  std::string ToJson() const;

  bool operator==(const Status&) const = default;
};

template <typename T>
using ApiResult = std::expected<T, Status>;

// What is asked for, as it appears in messages and details: `pods "a" not found`,
// `deployments.apps "a" not found`.
struct GroupResource {
  std::string group;
  std::string resource;
  std::string ToString() const { return group.empty() ? resource : resource + "." + group; }
};

Status BadRequestStatus(std::string message);
Status UnauthorizedStatus(std::string message);
Status ForbiddenStatus(const GroupResource& resource, std::string_view name, std::string_view why);
Status NotFoundStatus(const GroupResource& resource, std::string_view name);
Status AlreadyExistsStatus(const GroupResource& resource, std::string_view name);
Status ConflictStatus(const GroupResource& resource, std::string_view name, std::string_view why);
Status ExpiredStatus(std::string message);
Status MethodNotSupportedStatus(const GroupResource& resource, std::string_view action);
Status TooManyRequestsStatus(std::string message, int retry_after_seconds);
Status RequestEntityTooLargeStatus(std::string message);
Status TimeoutStatus(std::string message, int retry_after_seconds);
Status ServiceUnavailableStatus(std::string message);
Status InternalErrorStatus(std::string_view what);

// Appends `text` as a JSON string, escaped as Go's encoder does (<, >, &, U+2028, U+2029; invalid
// UTF-8 becomes U+FFFD).
void AppendJsonString(std::string& out, std::string_view text);

}  // namespace keelson
