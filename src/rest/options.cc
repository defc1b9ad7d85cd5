#include "rest/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/quote.h"
#include "base/utf8.h"
#include "storage/list_options.h"

namespace keelson::rest {
namespace {

using schema::FieldErrors;
using schema::Forbidden;
using schema::NotSupported;
using value::Path;

constexpr size_t kManagerMaxBytes = 128;

// Reads parameters one by one and remembers the first that could not be read.
class ParameterReader {
 public:
  explicit ParameterReader(const http::Query& query) : query_(query) {}

  std::string Text(std::string_view name) const {
    return std::string(query_.Get(name).value_or(""));
  }

  std::optional<std::string> OptionalText(std::string_view name) const {
    auto text = query_.Get(name);
    return text ? std::optional(std::string(*text)) : std::nullopt;
  }

  std::vector<std::string> Texts(std::string_view name) const {
    std::vector<std::string> texts;
    for (auto text : query_.GetAll(name)) texts.emplace_back(text);
    return texts;
  }

  std::optional<bool> Bool(std::string_view name) const {
    auto text = query_.Get(name);
    if (!text) return std::nullopt;
    return *text != "0" && *text != "false";
  }

  std::optional<int64_t> Int(std::string_view name) {
    auto text = query_.Get(name);
    if (!text || text->empty()) return std::nullopt;
    int64_t number = 0;
    auto digits = *text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (failure == std::errc() && end == digits.data() + digits.size() && !digits.empty() &&
        !(text->starts_with('+') && digits.starts_with('-'))) {
      return number;
    }
    if (!error_) {
      error_ = BadRequestStatus(fmt::format(
          "strconv.ParseInt: parsing {}: {}", Quote(*text),
          failure == std::errc::result_out_of_range ? "value out of range" : "invalid syntax"));
    }
    return std::nullopt;
  }

  template <typename Options>
  ApiResult<Options> Finish(Options options, std::string_view kind, const FieldErrors& errors) {
    if (error_) return std::unexpected(*std::move(error_));
    if (!errors.empty()) {
      return std::unexpected(schema::InvalidStatus("meta.k8s.io", kind, "", errors));
    }
    return options;
  }
  bool failed() const { return error_.has_value(); }

 private:
  const http::Query& query_;
  std::optional<Status> error_;
};

void CheckDryRun(const std::vector<std::string>& dry_run, FieldErrors& errors) {
  static constexpr std::string_view kSupported[] = {"All"};
  if (std::ranges::all_of(dry_run, [](const auto& text) { return text == "All"; })) return;
  std::string given = "[";
  for (const auto& text : dry_run) {
    if (given.size() > 1) given += ',';
    AppendJsonString(given, text);
  }
  errors.push_back(
      NotSupported(Path("dryRun"), schema::BadValue::Json(std::move(given) + "]"), kSupported));
}

void CheckFieldValidation(std::string_view validation, FieldErrors& errors) {
  static constexpr std::string_view kSupported[] = {"", "Ignore", "Strict", "Warn"};
  if (std::ranges::find(kSupported, validation) != std::end(kSupported)) return;
  errors.push_back(NotSupported(Path("fieldValidation"), validation, kSupported));
}

void CheckWriteOptions(const WriteOptions& options, FieldErrors& errors) {
  CheckFieldManager(options.field_manager, Path("fieldManager"), errors);
  CheckDryRun(options.dry_run, errors);
  CheckFieldValidation(options.field_validation, errors);
}

WriteOptions ReadWriteParameters(const ParameterReader& reader) {
  return {.dry_run = reader.Texts("dryRun"),
          .field_manager = reader.Text("fieldManager"),
          .field_validation = reader.Text("fieldValidation")};
}

ApiResult<WriteOptions> ReadPlainWriteOptions(const http::Query& query, std::string_view kind) {
  ParameterReader reader(query);
  auto options = ReadWriteParameters(reader);
  FieldErrors errors;
  CheckWriteOptions(options, errors);
  return reader.Finish(std::move(options), kind, errors);
}

}  // namespace

FieldValidation WriteOptions::validation() const {
  if (field_validation == "Strict") return FieldValidation::kStrict;
  if (field_validation == "Ignore") return FieldValidation::kIgnore;
  return FieldValidation::kWarn;
}

ApiResult<GetOptions> ReadGetOptions(const http::Query& query) {
  return GetOptions{ParameterReader(query).Text("resourceVersion")};
}

ApiResult<IncludeObject> ReadIncludeObject(const http::Query& query) {
  const auto text = query.Get("includeObject").value_or("");
  if (text.empty() || text == "Metadata") return IncludeObject::kMetadata;
  if (text == "Object") return IncludeObject::kObject;
  if (text == "None") return IncludeObject::kNone;
  return std::unexpected(BadRequestStatus(
      fmt::format("Unable to convert to Table as requested: includeObject: Invalid value: {}: must "
                  "be 'Metadata', 'Object', 'None', or empty",
                  Quote(text))));
}

ApiResult<ListOptions> ReadListOptions(const http::Query& query, bool force_watch) {
  ParameterReader reader(query);
  ListOptions options{
      .label_selector = reader.Text("labelSelector"),
      .field_selector = reader.Text("fieldSelector"),
      .watch = force_watch || reader.Bool("watch").value_or(false),
      .allow_watch_bookmarks = reader.Bool("allowWatchBookmarks").value_or(false),
      .resource_version = reader.Text("resourceVersion"),
      .resource_version_match = reader.Text("resourceVersionMatch"),
      .timeout_seconds = reader.Int("timeoutSeconds"),
      .limit = reader.Int("limit").value_or(0),
      .continue_token = reader.Text("continue"),
      .send_initial_events = reader.Bool("sendInitialEvents"),
  };
  if (reader.failed()) return reader.Finish(std::move(options), "ListOptions", {});
  storage::ListOptions checked{.resource_version = options.resource_version,
                               .resource_version_match = options.resource_version_match,
                               .continue_token = options.continue_token,
                               .send_initial_events = options.send_initial_events};
  if (options.watch) storage::DefaultWatchOptions(checked);
  if (auto refused = storage::ValidateOptions(checked, options.watch)) {
    return std::unexpected(*std::move(refused));
  }
  options.resource_version_match = std::move(checked.resource_version_match);
  options.send_initial_events = checked.send_initial_events;
  return options;
}

ApiResult<WriteOptions> ReadCreateOptions(const http::Query& query) {
  return ReadPlainWriteOptions(query, "CreateOptions");
}

ApiResult<WriteOptions> ReadUpdateOptions(const http::Query& query) {
  return ReadPlainWriteOptions(query, "UpdateOptions");
}

ApiResult<WriteOptions> ReadPatchOptions(const http::Query& query, PatchType type) {
  ParameterReader reader(query);
  auto options = ReadWriteParameters(reader);
  options.force = reader.Bool("force");
  FieldErrors errors;
  if (type == PatchType::kApply && options.field_manager.empty()) {
    errors.push_back(schema::Required(Path("fieldManager"), "is required for apply patch"));
  }
  if (type != PatchType::kApply && options.force) {
    errors.push_back(Forbidden(Path("force"), "may not be specified for non-apply patch"));
  }
  CheckWriteOptions(options, errors);
  return reader.Finish(std::move(options), "PatchOptions", errors);
}

ApiResult<DeleteOptions> ReadDeleteOptions(const http::Query& query) {
  ParameterReader reader(query);
  DeleteOptions options{
      .grace_period_seconds = reader.Int("gracePeriodSeconds"),
      .orphan_dependents = reader.Bool("orphanDependents"),
      .propagation_policy = reader.OptionalText("propagationPolicy"),
      .dry_run = reader.Texts("dryRun"),
      .ignore_store_read_error = reader.Bool("ignoreStoreReadErrorWithClusterBreakingPotential"),
  };
  if (!reader.failed()) {
    if (auto checked = CheckDeleteOptions(options); !checked) {
      return std::unexpected(checked.error());
    }
  }
  return reader.Finish(std::move(options), "DeleteOptions", {});
}

ApiResult<void> CheckDeleteOptions(const DeleteOptions& options) {
  static constexpr std::string_view kPolicies[] = {"Foreground", "Background", "Orphan", "nil"};
  FieldErrors errors;
  const Path path("propagationPolicy");
  if (const auto& policy = options.propagation_policy) {
    if (options.orphan_dependents) {
      errors.push_back(schema::Invalid(
          path, *policy, "orphanDependents and deletionPropagation cannot be both set"));
    }
    if (std::ranges::find(kPolicies, *policy) >= std::end(kPolicies) - 1) {
      errors.push_back(NotSupported(path, *policy, kPolicies));
    }
  }
  CheckDryRun(options.dry_run, errors);
  if (options.ignore_store_read_error.value_or(false)) {
    const Path ignore("ignoreStoreReadErrorWithClusterBreakingPotential");
    auto exclude = [&](bool set, std::string_view other) {
      if (set)
        errors.push_back(
            schema::Invalid(ignore, true, fmt::format("cannot be set together with .{}", other)));
    };
    exclude(!options.dry_run.empty(), "dryRun");
    exclude(options.propagation_policy.has_value(), "propagationPolicy");
    exclude(options.orphan_dependents.has_value(), "orphanDependents");
    exclude(options.grace_period_seconds.has_value(), "gracePeriodSeconds");
    exclude(options.preconditions.has_value(), "preconditions");
  }
  if (errors.empty()) return {};
  return std::unexpected(schema::InvalidStatus("meta.k8s.io", "DeleteOptions", "", errors));
}

void CheckFieldManager(std::string_view manager, const Path& path, FieldErrors& errors) {
  if (manager.size() > kManagerMaxBytes) {
    errors.push_back(schema::TooLong(path, kManagerMaxBytes));
  }
  for (size_t at = 0; at < manager.size();) {
    auto character = FirstCharacter(manager.substr(at));
    if (!IsPrintable(character.code)) {
      errors.push_back(schema::Invalid(
          path, manager,
          fmt::format("invalid character U+{:04X} (at position {})", character.code, at)));
    }
    at += character.size;
  }
}

std::string ManagerFromUserAgent(std::string_view user_agent) {
  auto name = user_agent.substr(0, user_agent.find('/'));
  std::string manager;
  while (!name.empty()) {
    auto character = FirstCharacter(name);
    auto bytes = name.substr(0, character.size);
    name.remove_prefix(character.size);
    if (!IsPrintable(character.code)) continue;
    if (manager.size() + bytes.size() > kManagerMaxBytes) break;
    manager += bytes;
  }
  return manager;
}

}  // namespace keelson::rest
