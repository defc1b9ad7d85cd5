#include "storage/list_options.h"

#include <fmt/ranges.h>

#include <charconv>
#include <limits>
#include <vector>

#include "base/quote.h"

namespace keelson::storage {
namespace {

constexpr std::string_view kExact = "Exact";
constexpr std::string_view kNotOlderThan = "NotOlderThan";
constexpr std::string_view kMatchField = "resourceVersionMatch";

class Faults {
 public:
  void Forbid(std::string_view field, std::string_view why) {
    Add("FieldValueForbidden", field, fmt::format("Forbidden: {}", why));
  }
  void Unsupported(std::string_view field, std::string_view value, std::string_view supported) {
    Add("FieldValueNotSupported", field,
        fmt::format("Unsupported value: {}: supported values: {}", Quote(value), supported));
  }

  std::optional<Status> Take() && {
    if (causes_.empty()) return std::nullopt;
    std::string all =
        texts_.size() == 1 ? texts_.front() : fmt::format("[{}]", fmt::join(texts_, ", "));
    return Status{.code = 422,
                  .reason = "Invalid",
                  .message = fmt::format("ListOptions.meta.k8s.io \"\" is invalid: {}", all),
                  .details = StatusDetails{
                      .group = "meta.k8s.io", .kind = "ListOptions", .causes = std::move(causes_)}};
  }

 private:
  void Add(std::string_view reason, std::string_view field, std::string message) {
    texts_.push_back(fmt::format("{}: {}", field, message));
    causes_.push_back({.reason = std::string(reason),
                       .message = std::move(message),
                       .field = std::string(field)});
  }

  std::vector<std::string> texts_;
  std::vector<StatusCause> causes_;
};

void ValidateList(const ListOptions& options, Faults& faults) {
  const auto& match = options.resource_version_match;
  if (!match.empty()) {
    if (options.resource_version.empty()) {
      faults.Forbid(kMatchField,
                    "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!options.continue_token.empty()) {
      faults.Forbid(kMatchField, "resourceVersionMatch is forbidden when continue is provided");
    }
    if (match != kExact && match != kNotOlderThan) {
      faults.Unsupported(kMatchField, match, R"("Exact", "NotOlderThan", "")");
    }
    if (match == kExact && options.resource_version == "0") {
      faults.Forbid(kMatchField,
                    R"(resourceVersionMatch "exact" is forbidden for resourceVersion "0")");
    }
  }
  if (options.send_initial_events) {
    faults.Forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
  }
}

void ValidateWatch(const ListOptions& options, Faults& faults) {
  const auto& match = options.resource_version_match;
  if (options.send_initial_events && match != kNotOlderThan) {
    faults.Forbid(kMatchField,
                  "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (match.empty()) return;
  if (!options.send_initial_events) {
    faults.Forbid(
        kMatchField,
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (match != kNotOlderThan) faults.Unsupported(kMatchField, match, R"("NotOlderThan")");
  if (!options.continue_token.empty()) {
    faults.Forbid(kMatchField, "resourceVersionMatch is forbidden when continue is provided");
  }
}

}  // namespace

void DefaultWatchOptions(ListOptions& options) {
  if (options.send_initial_events || !options.resource_version_match.empty()) return;
  if (!options.resource_version.empty() && options.resource_version != "0") return;
  options.send_initial_events = true;
  options.resource_version_match = kNotOlderThan;
}

std::optional<Status> ValidateOptions(const ListOptions& options, bool is_watch) {
  Faults faults;
  if (is_watch) {
    ValidateWatch(options, faults);
  } else {
    ValidateList(options, faults);
  }
  return std::move(faults).Take();
}

Result<Revision> ParseResourceVersion(std::string_view text) {
  if (text.empty()) return 0;
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = end == text.data() + text.size();
  std::string_view why;
  if (error == std::errc::invalid_argument || !whole) {
    why = "invalid syntax";
  } else if (error != std::errc()) {
    why = "value out of range";
  } else if (value <= static_cast<uint64_t>(std::numeric_limits<Revision>::max())) {
    return static_cast<Revision>(value);
  } else {
    return std::numeric_limits<Revision>::max();
  }
  return Fail(ErrorCode::kInvalid,
              "resourceVersion: Invalid value: {0}: strconv.ParseUint: parsing {0}: {1}",
              Quote(text), why);
}

Status TooLargeResourceVersion(Revision wanted, Revision current, int retry_after) {
  Status status = TimeoutStatus(
      fmt::format("Too large resource version: {}, current: {}", wanted, current), retry_after);
  status.details->causes.push_back(
      {.reason = "ResourceVersionTooLarge", .message = "Too large resource version"});
  return status;
}

}  // namespace keelson::storage
