// Annotations that mean something for a pod: mirror pods, deletion cost, and the profiles that were
// annotations before they were fields.

#include <fmt/format.h>

#include <charconv>

#include "base/quote.h"
#include "kube/pod/validation.h"

namespace keelson::kube::pod {
namespace {

using schema::Forbidden;
using schema::Invalid;

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
constexpr std::string_view kSeccompPod = "seccomp.security.alpha.kubernetes.io/pod";
constexpr std::string_view kSeccompPrefix = "container.seccomp.security.alpha.kubernetes.io/";
constexpr std::string_view kAppArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";
constexpr std::string_view kLocalhost = "localhost/";

// A 32-bit integer without leading zeros or a plus sign.
bool IsDeletionCost(std::string_view text) {
  if (text.starts_with('+') || text.starts_with("00") || (text.size() > 1 && text[0] == '0')) {
    return false;
  }
  int32_t cost = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cost);
  return error == std::errc() && end == text.data() + text.size();
}

void ValidateSeccompText(std::string_view profile, const Path& path, FieldErrors& errors) {
  if (profile == "runtime/default" || profile == "docker/default" || profile == "unconfined") {
    return;
  }
  if (profile.starts_with(kLocalhost)) {
    CheckDescending(profile.substr(kLocalhost.size()), path, errors);
  } else {
    errors.push_back(Invalid(path, profile, "must be a valid seccomp profile"));
  }
}

bool HasContainer(core::PodSpec spec, std::string_view name) {
  bool found = false;
  VisitContainers(spec, Path(), [&](core::Container container, const Path&) {
    found = found || container.name() == name;
  });
  return found;
}

void ValidateAppArmorAnnotation(std::string_view key, std::string_view profile, core::PodSpec spec,
                                const Path& path, FieldErrors& errors) {
  const auto container = key.substr(kAppArmorPrefix.size());
  if (!HasContainer(spec, container)) {
    errors.push_back(Invalid(path.Key(key), container, "container not found"));
  }
  if (profile.empty() || profile == "runtime/default" || profile == "unconfined" ||
      profile.starts_with(kLocalhost)) {
    return;
  }
  errors.push_back(Invalid(path.Key(key), profile,
                           fmt::format("invalid AppArmor profile name: {}", Quote(profile))));
}

// `type` and `local` are the field's; the annotation must say the same.
void CheckMatch(std::string_view annotation, std::string_view type,
                std::optional<std::string_view> local, bool docker_default, std::string_view what,
                const Path& path, FieldErrors& errors) {
  bool type_matches = true;
  if (type == "Unconfined") {
    type_matches = annotation == "unconfined";
  } else if (type == "RuntimeDefault") {
    type_matches =
        annotation == "runtime/default" || (docker_default && annotation == "docker/default");
  } else if (type == "Localhost") {
    type_matches = annotation.starts_with(kLocalhost);
    if (type_matches && (!local || annotation.substr(kLocalhost.size()) != *local)) {
      errors.push_back(
          Forbidden(path.Child("localhostProfile"),
                    fmt::format("{} profile in annotation and field must match", what)));
    }
  }
  if (!type_matches) {
    errors.push_back(Forbidden(path.Child("type"),
                               fmt::format("{} type in annotation and field must match", what)));
  }
}

const Value* FindFor(const Value& annotations, std::string_view prefix, std::string_view name) {
  for (const auto& member : annotations.members()) {
    if (member.key().starts_with(prefix) && member.key().substr(prefix.size()) == name) {
      return &member.value;
    }
  }
  return nullptr;
}

}  // namespace

void ValidatePodAnnotations(const Value& annotations, core::PodSpec spec, const Path& path,
                            FieldErrors& errors) {
  if (annotations.members().empty()) return;
  if (const Value* mirror = annotations.Find(kMirror); mirror && spec.nodeName().empty()) {
    errors.push_back(Invalid(path.Key(kMirror), mirror->AsString(),
                             "must set spec.nodeName if mirror pod annotation is set"));
  }
  if (const Value* cost = annotations.Find(kDeletionCost);
      cost && !IsDeletionCost(cost->AsString())) {
    errors.push_back(Invalid(path.Key(kDeletionCost), cost->AsString(), "must be a 32bit integer"));
  }
  if (const Value* profile = annotations.Find(kSeccompPod)) {
    ValidateSeccompText(profile->AsString(), path.Child(kSeccompPod), errors);
  }
  for (const auto& member : annotations.members()) {
    if (member.key().starts_with(kSeccompPrefix)) {
      ValidateSeccompText(member.value.AsString(), path.Child(member.key()), errors);
    }
  }
  for (const auto& member : annotations.members()) {
    if (member.key().starts_with(kAppArmorPrefix)) {
      ValidateAppArmorAnnotation(member.key(), member.value.AsString(), spec, path, errors);
    }
  }
}

void ValidateProfileAnnotations(const Value& annotations, core::PodSpec spec, const Path& spec_path,
                                FieldErrors& errors) {
  if (annotations.members().empty()) return;
  const auto pod_seccomp = spec.securityContext().seccompProfile();
  if (const Value* annotation = annotations.Find(kSeccompPod); annotation && pod_seccomp) {
    const Path context = spec_path.Child("securityContext");
    CheckMatch(annotation->AsString(), pod_seccomp.type(), pod_seccomp.localhostProfile(),
               /*docker_default=*/true, "seccomp", context.Child("seccompProfile"), errors);
  }
  VisitContainers(spec, spec_path, [&](core::Container container, const Path& at) {
    const auto profile = container.securityContext().seccompProfile();
    if (!profile) return;
    if (const Value* annotation = FindFor(annotations, kSeccompPrefix, container.name())) {
      const Path context = at.Child("securityContext");
      CheckMatch(annotation->AsString(), profile.type(), profile.localhostProfile(),
                 /*docker_default=*/true, "seccomp", context.Child("seccompProfile"), errors);
    }
  });
  if (spec.os().name() == "windows") return;
  const auto pod_profile = spec.securityContext().appArmorProfile();
  VisitContainers(spec, spec_path, [&](core::Container container, const Path& at) {
    auto profile = container.securityContext().appArmorProfile();
    if (!profile) profile = pod_profile;
    if (!profile) return;
    if (const Value* annotation = FindFor(annotations, kAppArmorPrefix, container.name())) {
      const Path context = at.Child("securityContext");
      CheckMatch(annotation->AsString(), profile.type(), profile.localhostProfile(),
                 /*docker_default=*/false, "apparmor", context.Child("appArmorProfile"), errors);
    }
  });
}

}  // namespace keelson::kube::pod
