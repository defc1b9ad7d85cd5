#include "kube/pod/defaults.h"

#include <algorithm>
#include <string>
#include <vector>

#include "api/core_v1.h"
#include "kube/pod/image_name.h"
#include "kube/pod/resources.h"
#include "value/quantity.h"

namespace keelson::kube::pod {
namespace {

namespace core = api::core_v1;
using schema::StructEditor;
using value::Arena;
using value::Member;
using value::Name;
using value::Quantity;
using value::Value;

constexpr Value Plain(std::string_view text) { return Value::String(text, /*plain=*/true); }

Value PullPolicyOf(std::string_view image) {
  return Plain(MeansLatest(image) ? "Always" : "IfNotPresent");
}

// --- amounts -------------------------------------------------------------------------------------

// Upstream keeps amounts in thousandths: what is finer is rounded up. In canonical spelling only
// these suffixes are.
bool FinerThanMilli(std::string_view text) {
  return text.ends_with('n') || text.ends_with('u') || text.find("e-") != std::string_view::npos;
}

Value RoundAmounts(const Value& list, Arena& arena) {
  auto members = list.members();
  Member* copy = nullptr;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!FinerThanMilli(members[i].value.AsString())) continue;
    auto amount = Quantity::Parse(members[i].value.AsString());
    if (!amount) continue;
    const Quantity rounded(amount->ScaledValue(-3), amount->format(), -3);
    if (!copy) {
      copy = arena.AllocateArray<Member>(members.size());
      std::copy(members.begin(), members.end(), copy);
    }
    copy[i] = Member(members[i].name, Value::String(arena.CopyString(rounded.ToString())));
  }
  return copy ? Value::Object({copy, members.size()}) : list.Shared();
}

void RoundField(StructEditor& object, const Name& field) {
  const Value before = object.Get(field);
  const Value after = RoundAmounts(before, object.arena());
  if (after.members().data() != before.members().data()) object.Set(field, after);
}

// `list` with those of `more` that it does not have, in order of their names.
Value WithMissing(const Value& list, const Value& more, Arena& arena) {
  auto missing = [&](const Member& member) { return list.Find(*member.name) == nullptr; };
  const auto added = std::ranges::count_if(more.members(), missing);
  if (added == 0) return list.Shared();
  const size_t size = list.members().size() + static_cast<size_t>(added);
  auto* out = arena.AllocateArray<Member>(size);
  auto* end = std::ranges::copy(list.members(), out).out;
  for (const Member& member : more.members()) {
    if (missing(member)) *end++ = Member(member.name, member.value.Shared());
  }
  std::sort(out, out + size, [](const Member& a, const Member& b) { return a.key() < b.key(); });
  return Value::Object({out, size});
}

// The amounts of `from` that `take` accepts and `list` does not have, added to it.
template <typename Take>
Value WithAmounts(const Value& list, const ResourceAmounts& from, Arena& arena, Take&& take) {
  std::vector<Member> members(list.members().begin(), list.members().end());
  for (const auto& [name, amount] : from) {
    if (!take(name) || list.Find(name)) continue;
    members.emplace_back(value::InternName(arena, name),
                         Value::String(arena.CopyString(amount.ToString())));
  }
  if (members.size() == list.members().size()) return list.Shared();
  std::ranges::sort(members, {}, &Member::key);
  auto* out = arena.AllocateArray<Member>(members.size());
  std::ranges::copy(members, out);
  return Value::Object({out, members.size()});
}

// --- the pod itself ------------------------------------------------------------------------------

// A field that is itself an object, edited by `edit` and put back when that changed it.
template <typename Edit>
void EditField(StructEditor& object, const Name& field, const schema::Type& type, Edit&& edit) {
  StructEditor inner(type, object.Get(field), object.arena());
  edit(inner);
  if (inner.changed()) object.Set(field, inner.value());
}

// The same for the objects of a list.
template <typename Edit>
void EditItems(StructEditor& object, const Name& field, const schema::Type& type, Edit&& edit) {
  const Value list = object.Get(field);
  Value* copy = nullptr;
  const auto items = list.items();
  for (size_t i = 0; i < items.size(); ++i) {
    StructEditor item(type, items[i], object.arena());
    edit(item);
    if (!item.changed()) continue;
    if (!copy) {
      copy = object.arena().AllocateArray<Value>(items.size());
      std::copy(items.begin(), items.end(), copy);
    }
    copy[i] = item.value().Shared();
  }
  if (copy) object.Set(field, Value::List({copy, items.size()}));
}

// Limits count as requests where none are given.
void RequestLimits(StructEditor& container) {
  EditField(container, core::Container::Names::resources, core::ResourceRequirements::Schema(),
            [](StructEditor& resources) {
              using Names = core::ResourceRequirements::Names;
              const Value limits = resources.Get(Names::limits);
              const Value requests = resources.Get(Names::requests);
              const Value filled = WithMissing(requests, limits, resources.arena());
              if (filled.members().size() != requests.members().size()) {
                resources.Set(Names::requests, filled);
              }
            });
}

// On the node's network every port is the node's.
void HostPorts(StructEditor& container) {
  EditItems(container, core::Container::Names::ports, core::ContainerPort::Schema(),
            [](StructEditor& port) {
              using Names = core::ContainerPort::Names;
              const Value number = port.Get(Names::containerPort);
              if (number.AsInt() != 0) port.SetDefault(Names::hostPort, number);
            });
}

// Resources of the pod as a whole follow from those of its containers.
void PodLevelResources(StructEditor& spec) {
  EditField(spec, core::PodSpec::Names::resources, core::ResourceRequirements::Schema(),
            [&](StructEditor& resources) {
              using Names = core::ResourceRequirements::Names;
              const core::PodSpec pod(spec.value());
              Value limits = resources.Get(Names::limits);
              Value requests = resources.Get(Names::requests);
              if (limits.members().empty() && requests.members().empty()) return;
              limits = WithAmounts(
                  limits, AggregateContainers(pod, Demand::kLimits), spec.arena(),
                  [&](std::string_view name) { return IsHugePages(name) && !requests.Find(name); });
              if (limits.members().empty()) return;
              requests = WithAmounts(requests, AggregateContainers(pod, Demand::kRequests),
                                     spec.arena(), [](std::string_view name) {
                                       return IsPodLevelResource(name) && IsOvercommitAllowed(name);
                                     });
              ResourceAmounts supported;
              for (const Member& member : limits.members()) {
                auto amount = Quantity::Parse(member.value.AsString());
                if (amount && IsPodLevelResource(member.key())) {
                  supported.emplace(member.key(), *std::move(amount));
                }
              }
              requests = WithAmounts(requests, supported, spec.arena(),
                                     [](std::string_view) { return true; });
              resources.Set(Names::limits, limits);
              if (!requests.members().empty()) resources.Set(Names::requests, requests);
            });
}

void DefaultPod(StructEditor& pod) {
  EditField(pod, core::Pod::Names::spec, core::PodSpec::Schema(), [](StructEditor& spec) {
    using Names = core::PodSpec::Names;
    const auto& container = core::Container::Schema();
    EditItems(spec, Names::containers, container, RequestLimits);
    EditItems(spec, Names::initContainers, container, RequestLimits);
    if (spec.Has(Names::resources)) PodLevelResources(spec);
    spec.SetDefault(Names::enableServiceLinks, Value::Bool(true));
    // Of a pod, not of a template, no time at all means a moment.
    if (spec.Get(Names::terminationGracePeriodSeconds).AsInt() < 0) {
      spec.Set(Names::terminationGracePeriodSeconds, Value::Int(1));
    }
    if (spec.Get(Names::hostNetwork).AsBool()) {
      EditItems(spec, Names::containers, container, HostPorts);
      EditItems(spec, Names::initContainers, container, HostPorts);
    }
  });
}

// --- parts ---------------------------------------------------------------------------------------

void DefaultPodSpec(StructEditor& spec) {
  using Names = core::PodSpec::Names;
  spec.SetDefault(Names::dnsPolicy, Plain("ClusterFirst"));
  spec.SetDefault(Names::restartPolicy, Plain("Always"));
  spec.SetDefault(Names::securityContext, Value::EmptyObject());
  spec.SetDefault(Names::terminationGracePeriodSeconds, Value::Int(30));
  spec.SetDefault(Names::schedulerName, Plain("default-scheduler"));
  RoundField(spec, Names::overhead);
  // The old name of the field shows what the new one says.
  const Value name = spec.IsUnset(Names::serviceAccountName) ? spec.Get(Names::serviceAccount)
                                                             : spec.Get(Names::serviceAccountName);
  if (name.AsString().empty()) return;
  if (spec.Get(Names::serviceAccountName) != name) spec.Set(Names::serviceAccountName, name);
  if (spec.Get(Names::serviceAccount) != name) spec.Set(Names::serviceAccount, name);
}

// podIP is the first of podIPs, and counts when they differ; upstream keeps only the list and shows
// both.
void DefaultPodStatus(StructEditor& status) {
  using Names = core::PodStatus::Names;
  const Value ip = status.Get(Names::podIP);
  const Value first = status.Get(Names::podIPs).At(0)["ip"];
  if (ip == first) return;
  if (ip.AsString().empty()) {
    status.Set(Names::podIP, first);
    return;
  }
  auto* member = status.arena().AllocateArray<Member>(1);
  new (member) Member(&core::PodIP::Names::ip, ip);
  auto* item = status.arena().AllocateArray<Value>(1);
  new (item) Value(Value::Object({member, 1}));
  status.Set(Names::podIPs, Value::List({item, 1}));
}

void DefaultContainer(StructEditor& container) {
  using Names = core::Container::Names;
  if (container.IsUnset(Names::imagePullPolicy)) {
    container.Set(Names::imagePullPolicy, PullPolicyOf(container.Get(Names::image).AsString()));
  }
  container.SetDefault(Names::terminationMessagePath, Plain("/dev/termination-log"));
  container.SetDefault(Names::terminationMessagePolicy, Plain("File"));
}

void DefaultVolume(StructEditor& volume) {
  using Names = core::Volume::Names;
  const auto members = volume.value().members();
  const bool has_source = std::ranges::any_of(members, [](const Member& member) {
    return member.key() != "name" && !member.value.is_null();
  });
  if (!has_source) volume.Set(Names::emptyDir, Value::EmptyObject());
  if (!volume.Has(Names::image)) return;
  EditField(volume, Names::image, core::ImageVolumeSource::Schema(), [](StructEditor& image) {
    using Image = core::ImageVolumeSource::Names;
    if (image.IsUnset(Image::pullPolicy)) {
      image.Set(Image::pullPolicy, PullPolicyOf(image.Get(Image::reference).AsString()));
    }
  });
}

void DefaultProbe(StructEditor& probe) {
  using Names = core::Probe::Names;
  probe.SetDefault(Names::timeoutSeconds, Value::Int(1));
  probe.SetDefault(Names::periodSeconds, Value::Int(10));
  probe.SetDefault(Names::successThreshold, Value::Int(1));
  probe.SetDefault(Names::failureThreshold, Value::Int(3));
}

void DefaultHttpGet(StructEditor& http) {
  using Names = core::HTTPGetAction::Names;
  http.SetDefault(Names::path, Plain("/"));
  http.SetDefault(Names::scheme, Plain("HTTP"));
}

constexpr int64_t kFileMode = 0644;

template <typename Source>
void DefaultMode(StructEditor& source) {
  source.SetDefault(Source::Names::defaultMode, Value::Int(kFileMode));
}

void DefaultHostPath(StructEditor& source) {
  source.SetDefault(core::HostPathVolumeSource::Names::type, Plain(""));
}

void DefaultTokenProjection(StructEditor& token) {
  token.SetDefault(core::ServiceAccountTokenProjection::Names::expirationSeconds, Value::Int(3600));
}

void DefaultFieldRef(StructEditor& ref) {
  ref.SetDefault(core::ObjectFieldSelector::Names::apiVersion, Plain("v1"));
}

void DefaultClaimSpec(StructEditor& spec) {
  spec.SetDefault(core::PersistentVolumeClaimSpec::Names::volumeMode, Plain("Filesystem"));
}

template <typename Requirements>
void RoundResources(StructEditor& resources) {
  RoundField(resources, Requirements::Names::limits);
  RoundField(resources, Requirements::Names::requests);
}

}  // namespace

std::span<const schema::DefaultHook> Defaults() {
  static const schema::DefaultHook kHooks[] = {
      {&core::Pod::Schema(), DefaultPod},
      {&core::PodSpec::Schema(), DefaultPodSpec},
      {&core::PodStatus::Schema(), DefaultPodStatus},
      {&core::Container::Schema(), DefaultContainer},
      {&core::EphemeralContainer::Schema(), DefaultContainer},
      {&core::Volume::Schema(), DefaultVolume},
      {&core::Probe::Schema(), DefaultProbe},
      {&core::HTTPGetAction::Schema(), DefaultHttpGet},
      {&core::SecretVolumeSource::Schema(), DefaultMode<core::SecretVolumeSource>},
      {&core::ConfigMapVolumeSource::Schema(), DefaultMode<core::ConfigMapVolumeSource>},
      {&core::DownwardAPIVolumeSource::Schema(), DefaultMode<core::DownwardAPIVolumeSource>},
      {&core::ProjectedVolumeSource::Schema(), DefaultMode<core::ProjectedVolumeSource>},
      {&core::HostPathVolumeSource::Schema(), DefaultHostPath},
      {&core::ServiceAccountTokenProjection::Schema(), DefaultTokenProjection},
      {&core::ObjectFieldSelector::Schema(), DefaultFieldRef},
      {&core::PersistentVolumeClaimSpec::Schema(), DefaultClaimSpec},
      {&core::ResourceRequirements::Schema(), RoundResources<core::ResourceRequirements>},
      {&core::VolumeResourceRequirements::Schema(),
       RoundResources<core::VolumeResourceRequirements>},
  };
  return kHooks;
}

}  // namespace keelson::kube::pod
