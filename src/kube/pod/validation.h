#pragma once

// What the files of the pod validator share. Internal; validate_template.h is the way in.
//
// One file per part of a pod. Every function appends to `errors`; none allocates for a valid part.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/core_v1.h"
#include "base/names.h"
#include "kube/pod/validate_template.h"
#include "schema/field_error.h"
#include "value/path.h"
#include "value/quantity.h"
#include "value/value.h"

namespace keelson::kube::pod {

namespace core = api::core_v1;

using schema::FieldErrors;
using schema::ListView;
using schema::MapView;
using value::Path;
using value::Value;

// A set of texts met so far. Small ones, which nearly all are, live on the stack; large ones hash,
// so that no list a client can send makes checking quadratic.
class SeenTexts {
 public:
  // False when it was there already.
  bool Insert(std::string_view text) {
    if (count_ < kInline) {
      if (Contains(text)) return false;
      inline_[count_++] = text;
      return true;
    }
    if (many_.empty()) many_.insert(inline_.begin(), inline_.end());
    return many_.insert(text).second;
  }
  bool Contains(std::string_view text) const {
    if (!many_.empty()) return many_.contains(text);
    return std::find(inline_.begin(), inline_.begin() + count_, text) != inline_.begin() + count_;
  }
  bool empty() const { return count_ == 0; }
  // In order of insertion while small, for messages that list them; sorted by the caller.
  std::vector<std::string_view> All() const {
    if (!many_.empty()) return {many_.begin(), many_.end()};
    return {inline_.begin(), inline_.begin() + count_};
  }

 private:
  static constexpr size_t kInline = 16;
  std::array<std::string_view, kInline> inline_;
  size_t count_ = 0;
  std::unordered_set<std::string_view> many_;
};

// The volumes of a pod that containers may mount: those accepted so far.
class VolumeIndex {
 public:
  explicit VolumeIndex(ListView<core::Volume> volumes) : volumes_(volumes) {}
  void Accept(size_t index);
  // A view that is false when there is none of that name.
  core::Volume Find(std::string_view name) const;

 private:
  static constexpr size_t kFew = 64;
  ListView<core::Volume> volumes_;
  uint64_t accepted_ = 0;                                // bits, for the usual few
  std::unordered_map<std::string_view, uint32_t> many_;  // else by name
};

// What a container is checked against.
struct PodContext {
  core::PodSpec spec;
  const SpecRules& rules;
  const VolumeIndex& volumes;
  const SeenTexts& claim_names;
  bool host_users = true;
};

// --- small rules ---------------------------------------------------------------------------------

template <size_t N>
bool OneOf(std::string_view text, const std::string_view (&values)[N]) {
  return std::find(std::begin(values), std::end(values), text) != std::end(values);
}

inline void AddInvalid(FieldErrors& errors, const Path& path, std::string_view value,
                       const names::Complaints& complaints) {
  if (!complaints.empty()) schema::AddComplaints(errors, path, value, complaints);
}
inline void RequireText(std::string_view text, const Path& path, FieldErrors& errors) {
  if (text.empty()) errors.push_back(schema::Required(path, ""));
}
inline void CheckLabel(std::string_view text, const Path& path, FieldErrors& errors) {
  if (!names::IsDns1123Label(text)) AddInvalid(errors, path, text, names::CheckDns1123Label(text));
}
inline void CheckSubdomain(std::string_view text, const Path& path, FieldErrors& errors) {
  if (!names::IsDns1123Subdomain(text)) {
    AddInvalid(errors, path, text, names::CheckDns1123Subdomain(text));
  }
}
inline void CheckQualified(std::string_view text, const Path& path, FieldErrors& errors) {
  AddInvalid(errors, path, text, names::CheckQualifiedName(text));
}
void CheckNotNegative(int64_t value, const Path& path, FieldErrors& errors);
void CheckPositive(int64_t value, const Path& path, FieldErrors& errors);
void CheckIp(std::string_view text, const Path& path, FieldErrors& errors);
// Mode bits of a file, when given.
void CheckFileMode(const std::optional<int32_t>& mode, const Path& path, FieldErrors& errors);
// A user or group id.
void CheckId(int64_t id, const Path& path, FieldErrors& errors);
void CheckPullPolicy(std::string_view policy, const Path& path, FieldErrors& errors);
bool HasBackstep(std::string_view path);
void CheckNoBacksteps(std::string_view text, const Path& path, FieldErrors& errors);
// Relative and without "..".
void CheckDescending(std::string_view text, const Path& path, FieldErrors& errors);
// The same, and not beginning with "..".
void CheckLocalPath(std::string_view text, const Path& path, FieldErrors& errors);
std::string_view TrimSpace(std::string_view text);
// The text of a quantity that decoding accepted.
value::Quantity QuantityOf(std::string_view text);

// --- parts ---------------------------------------------------------------------------------------

void ValidateVolumes(ListView<core::Volume> volumes, const Value* metadata, const Path& path,
                     const SpecRules& rules, VolumeIndex& index, FieldErrors& errors);
void ValidateVolumeSource(core::Volume volume, const Value* metadata, const Path& path,
                          const SpecRules& rules, FieldErrors& errors);
void ValidateProjected(core::ProjectedVolumeSource projected, const Path& path,
                       FieldErrors& errors);
void ValidateDownwardFile(core::DownwardAPIVolumeFile file, const Path& path, FieldErrors& errors);
void ValidateKeyToPath(core::KeyToPath item, const Path& path, FieldErrors& errors);

void ValidateContainers(const PodContext& pod, const Path& path, FieldErrors& errors);
void ValidateInitContainers(const PodContext& pod, const Path& path, FieldErrors& errors);
void ValidateEphemeralContainers(const PodContext& pod, const Path& path, FieldErrors& errors);
void ValidateContainerForPod(core::Container container, const Path& path, FieldErrors& errors);

void ValidatePorts(ListView<core::ContainerPort> ports, const Path& path, FieldErrors& errors);
void ValidateEnv(ListView<core::EnvVar> vars, const Path& path, FieldErrors& errors);
void ValidateEnvFrom(ListView<core::EnvFromSource> sources, const Path& path, FieldErrors& errors);
void ValidateFieldRef(core::ObjectFieldSelector ref, std::span<const std::string_view> supported,
                      const Path& path, FieldErrors& errors);
void ValidateResourceFieldRef(core::ResourceFieldSelector ref, bool in_volume, const Path& path,
                              FieldErrors& errors);
void ValidateMounts(core::Container container, const VolumeIndex& volumes, const Path& path,
                    FieldErrors& errors);
void ValidateDevices(core::Container container, const VolumeIndex& volumes, const Path& path,
                     FieldErrors& errors);
void ValidateFileKeyRefs(core::PodSpec spec, const Path& path, FieldErrors& errors);

void ValidateProbes(core::Container container, std::optional<int64_t> grace, const Path& path,
                    FieldErrors& errors);
void ValidateLifecycle(core::Lifecycle lifecycle, std::optional<int64_t> grace, core::PodOS os,
                       const Path& path, FieldErrors& errors);

void ValidateContainerResources(core::ResourceRequirements resources, const SeenTexts& claim_names,
                                const Path& path, FieldErrors& errors);
void ValidateOverhead(const Value& overhead, const Path& path, FieldErrors& errors);
void ValidatePodResources(const PodContext& pod, const Path& spec_path, FieldErrors& errors);
void ValidateResourceQuantity(std::string_view resource, const value::Quantity& quantity,
                              const Path& path, FieldErrors& errors);

void ValidatePodSecurity(core::PodSpec spec, const Path& spec_path, FieldErrors& errors);
void ValidateContainerSecurity(core::SecurityContext context, bool host_users,
                               const SpecRules& rules, const Path& path, FieldErrors& errors);
void ValidateWindowsOptions(core::WindowsSecurityContextOptions options, const Path& path,
                            FieldErrors& errors);
void ValidateHostProcess(core::PodSpec spec, const SpecRules& rules, const Path& path,
                         FieldErrors& errors);
void ValidateOs(core::PodSpec spec, const Path& spec_path, FieldErrors& errors);
void ValidateAppArmor(core::AppArmorProfile profile, const Path& path, FieldErrors& errors);
// Annotations that mean something for a pod.
void ValidatePodAnnotations(const Value& annotations, core::PodSpec spec, const Path& path,
                            FieldErrors& errors);
// The old seccomp and AppArmor annotations agree with the fields.
void ValidateProfileAnnotations(const Value& annotations, core::PodSpec spec, const Path& spec_path,
                                FieldErrors& errors);

void ValidateAffinity(core::Affinity affinity, const Path& path, FieldErrors& errors);
void ValidateTopologySpread(ListView<core::TopologySpreadConstraint> constraints, const Path& path,
                            FieldErrors& errors);
void ValidateTolerations(ListView<core::Toleration> tolerations, const Path& path,
                         FieldErrors& errors);

// Init, regular, then ephemeral containers; `visit(core::Container, const Path&)`.
template <typename Visit>
void VisitContainers(core::PodSpec spec, const Path& spec_path, Visit&& visit) {
  auto each = [&](const Value& list, std::string_view name) {
    const Path path = spec_path.Child(name);
    size_t i = 0;
    for (const Value& item : list.items()) visit(core::Container(item.Shared()), path.Index(i++));
  };
  each(spec.initContainers().value(), "initContainers");
  each(spec.containers().value(), "containers");
  each(spec.ephemeralContainers().value(), "ephemeralContainers");
}

}  // namespace keelson::kube::pod
