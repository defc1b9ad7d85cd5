// APIService: which server answers for a group and version.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "api/apiregistration_v1.h"
#include "base/quote.h"
#include "crypto/base64.h"
#include "kube/cluster/kinds.h"
#include "rest/field_checks.h"
#include "value/timestamp.h"

namespace keelson::kube::cluster {
namespace {

using api::apiregistration_v1::APIService;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Ref;
using value::Value;

constexpr int32_t kMaxGroupPriority = 20'000;
constexpr int32_t kMaxVersionPriority = 1'000;

// What this server answers itself is available from the start.
void PrepareForCreate(const WriteScope& scope, Ref object) {
  if (APIService(object.Get()).spec().service()) return;
  auto& builder = object.builder();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(scope.now).time_since_epoch();
  Ref condition = object.Field("status").Field("conditions");
  condition.Set(Value::EmptyList());
  Ref added = condition.Append(Value::EmptyObject());
  added.SetField("type", Value::String("Available"));
  added.SetField("status", Value::String("True"));
  added.SetField("lastTransitionTime",
                 builder.String(value::FormatTime({.seconds = seconds.count()})));
  added.SetField("reason", Value::String("Local"));
  added.SetField("message", Value::String("Local APIServices are always available"));
}

void CheckName(const APIService& object, FieldErrors& errors) {
  const auto name = object.metadata().name();
  const auto version = object.spec().version();
  const auto group = object.spec().group();
  // "version.group"
  if (name.size() == version.size() + 1 + group.size() && name.starts_with(version) &&
      name.ends_with(group) && name[version.size()] == '.') {
    return;
  }
  if (name.empty() || !names::CheckPathSegment(name).empty()) return;
  errors.push_back(Invalid(Path("metadata").Child("name"), name,
                           fmt::format("must be `spec.version+\".\"+spec.group`: {}",
                                       Quote(fmt::format("{}.{}", version, group)))));
}

void CheckLocal(const APIService& object, const Path& path, FieldErrors& errors) {
  const auto spec = object.spec();
  if (!spec.caBundle().empty()) {
    const auto bytes = crypto::Base64Decode(spec.caBundle());
    errors.push_back(Invalid(path.Child("caBundle"),
                             fmt::format("{} bytes", bytes ? bytes->size() : 0),
                             "local APIServices may not have a caBundle"));
  }
  if (spec.insecureSkipTLSVerify()) {
    errors.push_back(Invalid(path.Child("insecureSkipTLSVerify"), true,
                             "local APIServices may not have insecureSkipTLSVerify"));
  }
}

void CheckService(const APIService& object, const Path& path, FieldErrors& errors) {
  const auto spec = object.spec();
  const Path at = path.Child("service");
  if (spec.service().namespace_().empty()) errors.push_back(Required(at.Child("namespace"), ""));
  if (spec.service().name().empty()) errors.push_back(Required(at.Child("name"), ""));
  const int32_t port = spec.service().port().value_or(0);
  if (auto complaints = names::CheckPortNumber(port); !complaints.empty()) {
    errors.push_back(Invalid(at.Child("port"), port,
                             fmt::format("port is not valid: {}", fmt::join(complaints, ", "))));
  }
  if (spec.insecureSkipTLSVerify() && !spec.caBundle().empty()) {
    errors.push_back(Invalid(path.Child("insecureSkipTLSVerify"), true,
                             "may not be true if caBundle is present"));
  }
}

void Validate(const WriteScope&, const Value& value, FieldErrors& errors) {
  const APIService object(value);
  const auto spec = object.spec();
  const Path path("spec");
  CheckName(object, errors);
  if (spec.group().empty() && spec.version() != "v1") {
    errors.push_back(Required(path.Child("group"),
                              "only v1 may have an empty group and it better be legacy kube"));
  }
  if (!spec.group().empty()) {
    rest::CheckText(spec.group(), names::CheckDns1123Subdomain, path.Child("group"), errors);
  }
  rest::CheckText(spec.version(), names::CheckDns1035Label, path.Child("version"), errors);
  const int32_t group_priority = spec.groupPriorityMinimum();
  if (group_priority <= 0 || group_priority > kMaxGroupPriority) {
    errors.push_back(Invalid(path.Child("groupPriorityMinimum"), group_priority,
                             "must be positive and less than 20000"));
  }
  const int32_t version_priority = spec.versionPriority();
  if (version_priority <= 0 || version_priority > kMaxVersionPriority) {
    errors.push_back(Invalid(path.Child("versionPriority"), version_priority,
                             "must be positive and less than 1000"));
  }
  if (spec.service()) {
    CheckService(object, path, errors);
  } else {
    CheckLocal(object, path, errors);
  }
}

void ValidateStatus(const WriteScope&, const Value& object, const Value&, FieldErrors& errors) {
  static constexpr std::string_view kStatuses[] = {"True", "False", "Unknown"};
  const Path path("status");
  const auto conditions = APIService(object).status().conditions();
  for (size_t i = 0; i < conditions.size(); ++i) {
    rest::CheckSupported(conditions[i].status(), kStatuses,
                         path.Child("conditions").Index(i).Child("status"), errors);
  }
}

}  // namespace

Rules kApiService({.name_check = names::NameIsPathSegment,
                   .unconditional_update = false,
                   .prepare_for_create = PrepareForCreate,
                   .prepare_status = rest::KeepMetadata,
                   .validate = Validate,
                   .validate_status = ValidateStatus});

}  // namespace keelson::kube::cluster
