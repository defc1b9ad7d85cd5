#include "kube/pod/prepare_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "kube/pod/validation.h"

namespace keelson::kube::pod {
namespace {

using value::Builder;
using value::Member;
using value::Ref;

constexpr std::string_view kAppArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";

void AppendRequirement(Ref selector, std::string_view key, std::string_view op,
                       const Value& label) {
  Ref expressions = selector.Field("matchExpressions");
  if (!expressions.Get().is_list()) expressions.Set(Value::EmptyList());
  Builder& builder = selector.builder();
  Ref requirement = selector.Field("matchExpressions").Append(Value::EmptyObject());
  requirement.SetField("key", builder.String(key));
  requirement.SetField("operator", Value::String(op, /*plain=*/true));
  requirement.SetField("values", builder.List({&label, 1}));
}

// `term` has labelSelector, matchLabelKeys and perhaps mismatchLabelKeys.
void MergeKeys(Ref term, const Value& labels) {
  const Value before = term.Get();
  if (!before["labelSelector"].is_object()) return;
  for (auto [field, op] : {std::pair("matchLabelKeys", "In"), {"mismatchLabelKeys", "NotIn"}}) {
    for (const Value& key : before[field].items()) {
      const Value* label = labels.Find(key.AsString());
      if (label)
        AppendRequirement(term.Field("labelSelector"), key.AsString(), op, label->Shared());
    }
  }
}

bool HasKeys(const Value& term) {
  return !term["matchLabelKeys"].items().empty() || !term["mismatchLabelKeys"].items().empty();
}

// `open` gets from the spec's place to the list's; each item's term is at `inner`, or is the item.
template <typename Open>
void MergeList(const Value& list, std::string_view inner, const Value& labels, Open&& open) {
  for (size_t i = 0; i < list.items().size(); ++i) {
    const Value item = list.At(i);
    if (!HasKeys(inner.empty() ? item : item[inner])) continue;
    Ref at = open().Item(i);
    MergeKeys(inner.empty() ? at : at.Field(inner), labels);
  }
}

// The profile that an annotation means; nothing for one that makes no sense.
std::optional<Value> ProfileOf(std::string_view annotation, Builder& builder) {
  constexpr std::string_view kLocalhost = "localhost/";
  std::string_view type;
  std::string_view local;
  if (annotation == "unconfined") {
    type = "Unconfined";
  } else if (annotation == "runtime/default") {
    type = "RuntimeDefault";
  } else if (annotation.starts_with(kLocalhost) && annotation.size() > kLocalhost.size()) {
    type = "Localhost";
    local = annotation.substr(kLocalhost.size());
  } else {
    return std::nullopt;
  }
  using Names = core::AppArmorProfile::Names;
  Member members[] = {{&Names::type, Value::String(type, /*plain=*/true)},
                      {&Names::localhostProfile, builder.String(local)}};
  const Value profile = builder.Object({members, local.empty() ? 1u : 2u});
  FieldErrors errors;
  ValidateAppArmor(core::AppArmorProfile(profile), Path(), errors);
  if (!errors.empty()) return std::nullopt;
  return profile;
}

}  // namespace

void MergeMatchLabelKeys(Ref pod) {
  const Value before = pod.Get();
  const Value labels = before["metadata"]["labels"];
  const Value spec = before["spec"];
  MergeList(spec["topologySpreadConstraints"], "", labels,
            [&] { return pod.Field("spec").Field("topologySpreadConstraints"); });
  const Value affinity = spec["affinity"];
  if (!affinity.is_object()) return;
  for (std::string_view sort : {"podAffinity", "podAntiAffinity"}) {
    for (auto [field, inner] :
         {std::pair<std::string_view, std::string_view>(
              "preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm"),
          {"requiredDuringSchedulingIgnoredDuringExecution", ""}}) {
      MergeList(affinity[sort][field], inner, labels, [&, field = field] {
        return pod.Field("spec").Field("affinity").Field(sort).Field(field);
      });
    }
  }
}

std::vector<std::string> TakeOverAppArmorAnnotations(Ref pod) {
  std::vector<std::string> taken;
  const Value before = pod.Get();
  const Value annotations = before["metadata"]["annotations"];
  const core::PodSpec spec(before["spec"]);
  const bool any = std::ranges::any_of(annotations.members(), [](const Member& annotation) {
    return annotation.key().starts_with(kAppArmorPrefix);
  });
  if (!any || spec.os().name() == "windows") return taken;
  const Value of_pod = spec.securityContext().appArmorProfile().value();
  for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    const Value containers = spec.value()[list];
    for (size_t i = 0; i < containers.items().size(); ++i) {
      const core::Container container(containers.At(i));
      const auto key = fmt::format("{}{}", kAppArmorPrefix, container.name());
      const Value* annotation = annotations.Find(key);
      if (!annotation || container.securityContext().appArmorProfile()) continue;
      const auto profile = ProfileOf(annotation->AsString(), pod.builder());
      if (profile && *profile == of_pod) continue;
      if (profile) {
        pod.Field("spec")
            .Field(list)
            .Item(i)
            .Field("securityContext")
            .SetField("appArmorProfile", *profile);
      }
      taken.push_back(key);
    }
  }
  return taken;
}

}  // namespace keelson::kube::pod
