#include <algorithm>

#include "base/ip_address.h"
#include "base/quote.h"
#include "base/seen.h"
#include "kube/core/kinds.h"
#include "kube/core/resource_names.h"

namespace keelson::kube::core {
namespace {

constexpr std::string_view kTaintEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

using TextPair = std::pair<std::string_view, std::string_view>;
struct TextPairHash {
  size_t operator()(const TextPair& pair) const {
    const std::hash<std::string_view> hash;
    return hash(pair.first) * 31 + hash(pair.second);
  }
};

void CheckTaints(schema::ListView<v1::Taint> taints, FieldErrors& errors) {
  if (taints.empty()) return;
  const Path metadata("metadata");
  const Path list = metadata.Child("taints");  // upstream looks for them there
  Seen<TextPair, TextPairHash> seen;
  for (size_t i = 0; i < taints.size(); ++i) {
    const v1::Taint taint = taints[i];
    const Path path = list.Index(i);
    rest::CheckText(taint.key(), names::CheckQualifiedName, path.Child("key"), errors);
    if (!names::IsLabelValue(taint.value_())) {
      errors.push_back(
          Invalid(path.Child("value"), taint.value_(),
                  fmt::format("{}", fmt::join(names::CheckLabelValue(taint.value_()), ";"))));
    }
    rest::CheckRequiredChoice(taint.effect(), kTaintEffects, path.Child("effect"), errors);
    if (!seen.Insert({taint.key(), taint.effect()})) {
      auto duplicate = schema::Duplicate(path, taint.value());
      duplicate.detail = "taints must be unique by key and effect pair";
      errors.push_back(std::move(duplicate));
    }
  }
}

void CheckAmounts(std::string_view field, schema::MapView<std::string_view> amounts,
                  FieldErrors& errors) {
  if (amounts.empty()) return;
  const Path status("status");
  const Path path = status.Child(field);
  for (const auto [resource, quantity] : amounts) {
    CheckResourceAmount(resource, quantity, path.Child(resource), errors);
  }
}

// MyFeature or MyFeature/mySubFeature.
bool IsFeatureName(std::string_view name) {
  auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  bool first = true;
  for (;;) {
    const auto slash = name.find('/');
    const auto part = name.substr(0, slash);
    if (part.empty() || !std::ranges::all_of(part, alphanumeric)) return false;
    if (first && (part[0] < 'A' || part[0] > 'Z')) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
    first = false;
  }
}

void CheckDeclaredFeatures(schema::ListView<std::string_view> features, FieldErrors& errors) {
  constexpr size_t kMaxName = 253;
  const Path status("status");
  const Path list = status.Child("declaredFeatures");
  for (size_t i = 0; i < features.size(); ++i) {
    const auto name = features[i];
    if (name.size() > kMaxName) {
      errors.push_back(
          Invalid(list.Index(i), name,
                  fmt::format("invalid feature name {}: must be no more than {} characters",
                              Quote(name), kMaxName)));
    } else if (!IsFeatureName(name)) {
      errors.push_back(Invalid(
          list.Index(i), name,
          fmt::format("invalid feature name {}: must start with an UpperCamelCase segment, with "
                      "subsequent segments separated by '/' (e.g., MyFeature or "
                      "MyFeature/mySubFeature), and contain only alphanumeric characters and "
                      "slashes",
                      Quote(name))));
    }
    if (i + 1 == features.size()) break;
    if (name == features[i + 1]) {
      errors.push_back(schema::Duplicate(list.Index(i + 1), features[i + 1]));
    } else if (name > features[i + 1]) {
      errors.push_back(
          Invalid(list.Index(i + 1), features[i + 1], "list must be sorted alphabetically"));
    }
  }
}

void CheckPodCidrs(schema::ListView<std::string_view> cidrs, FieldErrors& errors) {
  if (cidrs.empty()) return;
  const Path spec("spec");
  const Path list = spec.Child("podCIDRs");
  int families[2] = {};
  for (size_t i = 0; i < cidrs.size(); ++i) {
    rest::CheckText(cidrs[i], names::CheckCidr, list.Index(i), errors);
    if (auto prefix = IpPrefix::Parse(cidrs[i])) ++families[prefix->address.is_v4() ? 0 : 1];
  }
  if (cidrs.size() == 1) return;
  if (cidrs.size() > 2 || families[0] != 1 || families[1] != 1) {
    errors.push_back(
        Invalid(list, cidrs.value(), "may specify no more than one CIDR for each IP family"));
  }
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  const v1::Node node(object);
  CheckTaints(node.spec().taints(), errors);
  CheckAmounts("capacity", node.status().capacity(), errors);
  CheckAmounts("allocatable", node.status().allocatable(), errors);
  CheckDeclaredFeatures(node.status().declaredFeatures(), errors);
  CheckPodCidrs(node.spec().podCIDRs(), errors);
}

void CheckAddresses(schema::ListView<v1::NodeAddress> addresses, FieldErrors& errors) {
  Seen<TextPair, TextPairHash> seen;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (!seen.Insert({addresses[i].type(), addresses[i].address()})) {
      errors.push_back(
          schema::Duplicate(Path("status").Child("addresses").Index(i), addresses[i].value()));
    }
  }
}

void CheckSpecUpdate(const v1::NodeSpec& spec, const v1::NodeSpec& old, FieldErrors& errors) {
  const Path path("spec");
  if (!old.podCIDRs().empty()) {
    const auto now = spec.podCIDRs();
    const auto before = old.podCIDRs();
    constexpr const char* kWhy = "node updates may not change podCIDR except from \"\" to valid";
    if (now.size() != before.size()) {
      errors.push_back(Forbidden(path.Child("podCIDRs"), kWhy));
    } else {
      for (size_t i = 0; i < now.size(); ++i) {
        if (now[i] != before[i]) errors.push_back(Forbidden(path.Child("podCIDRs"), kWhy));
      }
    }
  }
  if (!old.providerID().empty() && spec.providerID() != old.providerID()) {
    errors.push_back(Forbidden(path.Child("providerID"),
                               "node updates may not change providerID except from \"\" to valid"));
  }
  if (spec.externalID() != old.externalID()) {
    errors.push_back(Forbidden(path.Child("externalID"), "may not be updated"));
  }
}

// Upstream holds writes of the status to the same rules, and checks twice what both lists name.
void ValidateUpdate(const WriteScope& scope, const Value& object, const Value& stored,
                    FieldErrors& errors) {
  const v1::Node node(object);
  Validate(scope, object, errors);
  CheckAmounts("capacity", node.status().capacity(), errors);
  CheckAmounts("allocatable", node.status().allocatable(), errors);
  CheckDeclaredFeatures(node.status().declaredFeatures(), errors);
  CheckAddresses(node.status().addresses(), errors);
  CheckSpecUpdate(node.spec(), v1::Node(stored).spec(), errors);
  CheckTaints(node.spec().taints(), errors);
}

void ValidateStatus(const WriteScope&, const Value& object, const Value& stored,
                    FieldErrors& errors) {
  const v1::Node node(object);
  CheckAmounts("capacity", node.status().capacity(), errors);
  CheckAmounts("allocatable", node.status().allocatable(), errors);
  CheckDeclaredFeatures(node.status().declaredFeatures(), errors);
  CheckAddresses(node.status().addresses(), errors);
  CheckSpecUpdate(node.spec(), v1::Node(stored).spec(), errors);
  CheckTaints(node.spec().taints(), errors);
}

// Where a kubelet's configuration came from is not asked for any more.
void DropConfigSource(Ref object, const Value* old) {
  const Value before = old ? (*old)["spec"] : Value();
  using Names = v1::NodeSpec::Names;
  if (object.Get()["spec"].Find(Names::configSource) && !before.Find(Names::configSource)) {
    object.Field("spec").RemoveField(Names::configSource);
  }
}

}  // namespace

// podCIDR is the first of podCIDRs, and counts when they differ; clients give either.
void DefaultNodeSpec(schema::StructEditor& spec) {
  using Names = v1::NodeSpec::Names;
  const Value single = spec.Get(Names::podCIDR);
  const Value several = spec.Get(Names::podCIDRs);
  if (single.AsString().empty()) {
    if (!several.items().empty()) spec.Set(Names::podCIDR, several.At(0));
  } else if (several.At(0) != single) {
    auto* item = spec.arena().AllocateArray<Value>(1);
    *item = single;
    spec.Set(Names::podCIDRs, Value::List({item, 1}));
  }
}

void DefaultNodeStatus(schema::StructEditor& status) {
  using Names = v1::NodeStatus::Names;
  if (status.Get(Names::capacity).size() > 0) {
    status.SetDefault(Names::allocatable, status.Get(Names::capacity));
  }
}

constinit const KindRules kNodeRules = {
    .keeps_status_on_create = true,
    .prepare_for_create = [](const WriteScope&, Ref object) { DropConfigSource(object, nullptr); },
    .prepare_for_update =
        [](const WriteScope& scope, Ref object, const Value& old) {
          if (scope.subresource.empty()) DropConfigSource(object, &old);
        },
    .validate = Validate,
    .validate_update = ValidateUpdate,
    .validate_status = ValidateStatus,
};

}  // namespace keelson::kube::core
