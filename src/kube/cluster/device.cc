// Devices: classes of them, claims on them, and the slices in which drivers publish them. Selectors
// in CEL are not compiled here, and of a published device only the name is looked at.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "api/resource_v1.h"
#include "kube/cluster/kinds.h"
#include "kube/cluster/storage_names.h"
#include "rest/field_checks.h"
#include "rest/seen_texts.h"
#include "schema/internal_form.h"
#include "value/json.h"

namespace keelson::kube::cluster {
namespace {

using api::resource_v1::DeviceClaim;
using api::resource_v1::DeviceClass;
using api::resource_v1::DeviceRequest;
using api::resource_v1::ResourceClaim;
using api::resource_v1::ResourceClaimSpec;
using api::resource_v1::ResourceClaimTemplate;
using api::resource_v1::ResourceClaimTemplateSpec;
using api::resource_v1::ResourcePool;
using api::resource_v1::ResourceSlice;
using api::resource_v1::ResourceSliceSpec;
using rest::WriteScope;
using schema::BadValue;
using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

constexpr size_t kMaxRequests = 32;
constexpr size_t kMaxConstraints = 32;
constexpr size_t kMaxConfigs = 32;
constexpr size_t kMaxSelectors = 32;
constexpr size_t kMaxSubRequests = 8;
constexpr size_t kMaxDevices = 128;
constexpr size_t kMaxDevicesAdvanced = 64;
constexpr size_t kMaxExpression = 10 * 1024;
constexpr size_t kMaxParameters = 10 * 1024;
constexpr size_t kMaxPoolName = 253;

// Looks at each item, unless there are too many.
template <typename Check>
void CheckItems(const Value& list, size_t max, const Path& path, FieldErrors& errors,
                Check&& check) {
  const auto items = list.items();
  if (items.size() > max) {
    errors.push_back(
        schema::TooMany(path, static_cast<int64_t>(items.size()), static_cast<int64_t>(max)));
    return;
  }
  for (size_t i = 0; i < items.size(); ++i) check(items[i], path.Index(i));
}

// The same, where no key may repeat.
template <typename Key, typename Check>
void CheckSet(const Value& list, size_t max, const Path& path, FieldErrors& errors, Key&& key,
              Check&& check) {
  CheckItems(list, max, path, errors, check);
  if (list.items().size() > max) return;
  rest::SeenTexts seen;
  for (size_t i = 0; i < list.items().size(); ++i) {
    const std::string_view text = key(list.items()[i]);
    if (!seen.Insert(text)) errors.push_back(schema::Duplicate(path.Index(i), text));
  }
}

std::string_view NameOf(const Value& item) { return item["name"].AsString(); }
std::string_view TextOf(const Value& item) { return item.AsString(); }

void CheckLabelName(std::string_view name, const Path& path, FieldErrors& errors) {
  if (name.empty()) {
    errors.push_back(Required(path, ""));
  } else {
    rest::CheckText(name, names::CheckDns1123Label, path, errors);
  }
}

void CheckSelector(const Value& selector, const Path& path, FieldErrors& errors) {
  const Value cel = selector["cel"];
  if (cel.is_null()) {
    errors.push_back(Required(path.Child("cel"), ""));
  } else if (cel["expression"].size() > kMaxExpression) {
    errors.push_back(schema::TooLong(path.Child("cel").Child("expression"), kMaxExpression));
  }
}

void CheckSelectors(const Value& selectors, const Path& path, FieldErrors& errors) {
  CheckItems(selectors, kMaxSelectors, path, errors,
             [&](const Value& item, const Path& at) { CheckSelector(item, at, errors); });
}

void CheckOpaque(const Value& config, const Path& path, FieldErrors& errors) {
  const Value opaque = config["opaque"];
  const Path at = path.Child("opaque");
  if (opaque.is_null()) {
    errors.push_back(Required(at, ""));
    return;
  }
  CheckCsiDriverName(opaque["driver"].AsString(), at.Child("driver"), errors);
  const Value parameters = opaque["parameters"];
  if (parameters.is_null()) {
    errors.push_back(Required(at.Child("parameters"), ""));
  } else if (!parameters.is_object()) {
    errors.push_back(
        Invalid(at.Child("parameters"), "<value omitted>", "must be a valid JSON object"));
  } else if (value::ToJson(parameters).size() > kMaxParameters) {
    errors.push_back(schema::TooLong(at.Child("parameters"), kMaxParameters));
  }
}

void CheckToleration(const Value& toleration, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kOperators[] = {"Equal", "Exists"};
  static constexpr std::string_view kEffects[] = {"NoExecute", "NoSchedule", "None"};
  if (auto key = toleration["key"].AsString(); !key.empty()) {
    rest::CheckText(key, names::CheckQualifiedName, path.Child("key"), errors);
  }
  const auto op = toleration["operator"].AsString();
  const auto text = toleration["value"].AsString();
  if (op == "Exists") {
    if (!text.empty()) {
      errors.push_back(Invalid(path.Child("value"), text, "must be empty for operator `Exists`"));
    }
  } else if (op == "Equal") {
    rest::CheckText(text, names::CheckLabelValue, path.Child("value"), errors);
  } else {
    rest::CheckRequiredChoice(op, kOperators, path.Child("operator"), errors);
  }
  if (auto effect = toleration["effect"].AsString(); !effect.empty()) {
    rest::CheckSupported(effect, kEffects, path.Child("effect"), errors);
  }
}

// An ExactDeviceRequest, or the part of a DeviceSubRequest that is the same.
void CheckExactRequest(const Value& request, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kModes[] = {"All", "ExactCount"};
  const auto name = request["deviceClassName"].AsString();
  if (name.empty()) {
    errors.push_back(Required(path.Child("deviceClassName"), ""));
  } else {
    rest::CheckText(name, names::CheckDns1123Subdomain, path.Child("deviceClassName"), errors);
  }
  CheckSelectors(request["selectors"], path.Child("selectors"), errors);
  const auto mode = request["allocationMode"].AsString();
  const int64_t count = request["count"].AsInt();
  if (mode == "All") {
    if (count != 0) {
      errors.push_back(Invalid(path.Child("count"), count,
                               "must not be specified when allocationMode is 'All'"));
    }
  } else if (mode == "ExactCount") {
    if (count <= 0) {
      errors.push_back(Invalid(path.Child("count"), count, "must be greater than zero"));
    }
  } else {
    errors.push_back(schema::NotSupported(path.Child("allocationMode"), mode, kModes));
  }
  const Value tolerations = request["tolerations"];
  for (size_t i = 0; i < tolerations.items().size(); ++i) {
    CheckToleration(tolerations.items()[i], path.Child("tolerations").Index(i), errors);
  }
}

void CheckSubRequest(const Value& request, const Path& path, FieldErrors& errors) {
  CheckLabelName(NameOf(request), path.Child("name"), errors);
  CheckExactRequest(request, path, errors);
}

void CheckRequest(const Value& request, const Path& path, FieldErrors& errors) {
  CheckLabelName(NameOf(request), path.Child("name"), errors);
  const bool exactly = !request["exactly"].is_null();
  const bool first = request["firstAvailable"].size() > 0;
  if (!exactly && !first) {
    errors.push_back(Required(path, "exactly one of `exactly` or `firstAvailable` is required"));
  } else if (exactly && first) {
    errors.push_back(Invalid(path, Value(),
                             "exactly one of `exactly` or `firstAvailable` is required, but "
                             "multiple fields are set"));
  } else if (first) {
    CheckSet(request["firstAvailable"], kMaxSubRequests, path.Child("firstAvailable"), errors,
             NameOf, [&](const Value& item, const Path& at) { CheckSubRequest(item, at, errors); });
  } else {
    CheckExactRequest(request["exactly"], path.Child("exactly"), errors);
  }
}

// "request" or "request/subrequest".
bool NamesRequest(const DeviceClaim& claim, std::string_view reference) {
  const auto slash = reference.find('/');
  for (auto request : claim.requests()) {
    if (request.name() != reference.substr(0, slash)) continue;
    if (slash == std::string_view::npos) return true;
    for (auto sub : request.firstAvailable()) {
      if (sub.name() == reference.substr(slash + 1)) return true;
    }
    return false;
  }
  return false;
}

void CheckReference(const DeviceClaim& claim, std::string_view reference, const Path& path,
                    FieldErrors& errors) {
  constexpr const char* kUnknown =
      "must be the name of a request in the claim or the name of a request and a subrequest "
      "separated by '/'";
  if (std::ranges::count(reference, '/') > 1) {
    errors.push_back(Invalid(path, reference, kUnknown));
    return;
  }
  const auto slash = reference.find('/');
  CheckLabelName(reference.substr(0, slash), path, errors);
  if (slash != std::string_view::npos) {
    CheckLabelName(reference.substr(slash + 1), path, errors);
  }
  if (!NamesRequest(claim, reference)) errors.push_back(Invalid(path, reference, kUnknown));
}

void CheckReferences(const DeviceClaim& claim, const Value& references, const Path& path,
                     FieldErrors& errors) {
  CheckSet(references, kMaxRequests, path, errors, TextOf, [&](const Value& item, const Path& at) {
    CheckReference(claim, item.AsString(), at, errors);
  });
}

void CheckClaim(const DeviceClaim& claim, const Path& path, FieldErrors& errors) {
  const Value& value = claim.value();
  CheckSet(value["requests"], kMaxRequests, path.Child("requests"), errors, NameOf,
           [&](const Value& item, const Path& at) { CheckRequest(item, at, errors); });
  CheckItems(value["constraints"], kMaxConstraints, path.Child("constraints"), errors,
             [&](const Value& item, const Path& at) {
               CheckReferences(claim, item["requests"], at.Child("requests"), errors);
               if (item["matchAttribute"].is_null() && item["distinctAttribute"].is_null()) {
                 errors.push_back(Required(at,
                                           "exactly one of \"matchAttribute\" or "
                                           "\"distinctAttribute\" is required, but multiple "
                                           "fields are set"));
               }
             });
  CheckItems(value["config"], kMaxConfigs, path.Child("config"), errors,
             [&](const Value& item, const Path& at) {
               CheckReferences(claim, item["requests"], at.Child("requests"), errors);
               CheckOpaque(item, at, errors);
             });
}

void ValidateClaim(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckClaim(ResourceClaim(object).spec().devices(), Path("spec").Child("devices"), errors);
}

void ValidateClaimUpdate(const WriteScope&, const Value& object, const Value& old,
                         FieldErrors& errors) {
  rest::CheckImmutable(ResourceClaimSpec::Schema(), ResourceClaim(object).spec().value(),
                       ResourceClaim(old).spec().value(), Path("spec"), errors);
}

void ValidateTemplate(const WriteScope&, const Value& object, FieldErrors& errors) {
  const Path spec("spec");
  CheckClaim(ResourceClaimTemplate(object).spec().spec().devices(),
             spec.Child("spec").Child("devices"), errors);
}

void ValidateTemplateUpdate(const WriteScope& scope, const Value& object, const Value& old,
                            FieldErrors& errors) {
  ValidateTemplate(scope, object, errors);
  rest::CheckImmutable(ResourceClaimTemplateSpec::Schema(),
                       ResourceClaimTemplate(object).spec().value(),
                       ResourceClaimTemplate(old).spec().value(), Path("spec"), errors);
}

void ValidateClass(const WriteScope&, const Value& object, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = DeviceClass(object).spec().value();
  CheckSelectors(spec["selectors"], path.Child("selectors"), errors);
  CheckItems(spec["config"], kMaxConfigs, path.Child("config"), errors,
             [&](const Value& item, const Path& at) { CheckOpaque(item, at, errors); });
}

void CheckPool(const ResourcePool& pool, const Path& path, FieldErrors& errors) {
  const Path at = path.Child("name");
  if (pool.name().empty()) {
    errors.push_back(Required(at, ""));
  } else {
    if (pool.name().size() > kMaxPoolName) errors.push_back(schema::TooLong(at, kMaxPoolName));
    for (auto rest = pool.name();;) {
      const auto slash = rest.find('/');
      rest::CheckText(rest.substr(0, slash), names::CheckDns1123Subdomain, at, errors);
      if (slash == std::string_view::npos) break;
      rest.remove_prefix(slash + 1);
    }
  }
  if (pool.resourceSliceCount() <= 0) {
    errors.push_back(Invalid(path.Child("resourceSliceCount"), pool.resourceSliceCount(),
                             "must be greater than zero"));
  }
  if (pool.generation() < 0) {
    errors.push_back(Invalid(path.Child("generation"), pool.generation(),
                             "must be greater than or equal to zero"));
  }
}

// A slice says once where its devices are.
void CheckPlace(const ResourceSliceSpec& spec, const Path& path, FieldErrors& errors) {
  std::vector<std::string_view> set;
  if (auto node = spec.nodeName()) {
    if (node->empty()) {
      errors.push_back(Invalid(path.Child("nodeName"), *node,
                               "must be either unset or set to a non-empty string"));
    } else {
      set.emplace_back("`nodeName`");
      rest::CheckName(*node, names::NameIsDnsSubdomain, path.Child("nodeName"), errors);
    }
  }
  if (spec.nodeSelector()) {
    set.emplace_back("`nodeSelector`");
    const auto terms = spec.nodeSelector().nodeSelectorTerms();
    if (terms.size() != 1) {
      errors.push_back(Invalid(path.Child("nodeSelector").Child("nodeSelectorTerms"), terms.value(),
                               "must have exactly one node selector term"));
    }
  }
  const auto flag = [&](std::optional<bool> value, std::string_view field, const char* shown) {
    if (!value) return;
    if (*value) {
      set.emplace_back(shown);
    } else {
      errors.push_back(Invalid(path.Child(field), false, "must be either unset or set to true"));
    }
  };
  flag(spec.allNodes(), "allNodes", "`allNodes`");
  flag(spec.perDeviceNodeSelection(), "perDeviceNodeSelection", "`perDeviceNodeSelection`");
  constexpr std::string_view kOne =
      "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  if (set.empty()) {
    errors.push_back(Required(path, std::string(kOne)));
  } else if (set.size() > 1) {
    errors.push_back(Invalid(path, fmt::format("{{{}}}", fmt::join(set, ", ")),
                             fmt::format("{}, but multiple fields are set", kOne)));
  }
}

void CheckDevices(const ResourceSliceSpec& spec, const Path& path, FieldErrors& errors) {
  bool advanced = false;
  for (auto device : spec.devices()) {
    advanced |= !device.taints().empty() || !device.consumesCounters().empty();
  }
  CheckSet(spec.devices().value(), advanced ? kMaxDevicesAdvanced : kMaxDevices,
           path.Child("devices"), errors, NameOf, [&](const Value& device, const Path& at) {
             CheckLabelName(NameOf(device), at.Child("name"), errors);
           });
}

// `old` is false on create.
void CheckSlice(const ResourceSliceSpec& spec, const ResourceSliceSpec& old, FieldErrors& errors) {
  const Path path("spec");
  CheckCsiDriverName(spec.driver(), path.Child("driver"), errors);
  CheckPool(spec.pool(), path.Child("pool"), errors);
  if (old) {
    rest::CheckImmutableField(ResourcePool::Schema(), ResourcePool::Names::name,
                              spec.pool().value(), old.pool().value(), path.Child("pool"), errors);
    for (const auto* field :
         {&ResourceSliceSpec::Names::driver, &ResourceSliceSpec::Names::nodeName}) {
      rest::CheckImmutableField(ResourceSliceSpec::Schema(), *field, spec.value(), old.value(),
                                path, errors);
    }
  }
  CheckPlace(spec, path, errors);
  if (!spec.sharedCounters().empty() && !spec.devices().empty()) {
    errors.push_back(Invalid(path, "", "only one of `sharedCounters` or `devices` is allowed"));
  }
  CheckDevices(spec, path, errors);
}

void ValidateSlice(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckSlice(ResourceSlice(object).spec(), ResourceSliceSpec(), errors);
}

void ValidateSliceUpdate(const WriteScope&, const Value& object, const Value& old,
                         FieldErrors& errors) {
  CheckSlice(ResourceSlice(object).spec(), ResourceSlice(old).spec(), errors);
}

}  // namespace

Rules kDeviceClass({.counts_generation = true, .validate = ValidateClass});

Rules kResourceClaim({.validate = ValidateClaim, .validate_update = ValidateClaimUpdate});

Rules kResourceClaimTemplate({.validate = ValidateTemplate,
                              .validate_update = ValidateTemplateUpdate});

Rules kResourceSlice({.counts_generation = true,
                      .validate = ValidateSlice,
                      .validate_update = ValidateSliceUpdate});

}  // namespace keelson::kube::cluster
