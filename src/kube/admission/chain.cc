// Which plugins there are, in upstream's order, and which of them run.

#include <fmt/format.h>

#include <algorithm>

#include "base/quote.h"
#include "kube/admission/plugins.h"

namespace keelson::kube::plugins {
namespace {

using Maker = PluginPtr (*)(const Objects& objects);

enum class Origin : uint8_t {
  kHere,       // made by `make`
  kElsewhere,  // handed to MakeChain
  kNothing,    // there is nothing for it to do
  kMissing,    // not built yet: docs/differences.md
};

struct Entry {
  std::string_view name;
  bool on = true;  // by default
  Maker make = nullptr;
  Origin origin = make == nullptr ? Origin::kMissing : Origin::kHere;
};

constexpr Entry kPlugins[] = {
    {"AlwaysAdmit", false, nullptr, Origin::kNothing},
    {"NamespaceAutoProvision", false},
    {"NamespaceLifecycle", true, nullptr, Origin::kElsewhere},
    {"NamespaceExists", false},
    {"LimitPodHardAntiAffinityTopology", false},
    {"LimitRanger", true, NewLimitRanger},
    {"ServiceAccount", true, NewServiceAccount},
    {"NodeRestriction", false, nullptr, Origin::kElsewhere},
    {"TaintNodesByCondition", true, [](const Objects&) { return NewTaintNodesByCondition(); }},
    {"AlwaysPullImages", false, [](const Objects&) { return NewAlwaysPullImages(); }},
    {"ImagePolicyWebhook", false},
    {"PodSecurity", true, NewPodSecurity},
    {"PodNodeSelector", false},
    {"Priority", true, NewPriority},
    {"DefaultTolerationSeconds", true,
     [](const Objects&) { return NewDefaultTolerationSeconds(); }},
    {"PodTolerationRestriction", false},
    {"EventRateLimit", false},
    {"ExtendedResourceToleration", false},
    {"DefaultStorageClass", true, NewDefaultStorageClass},
    {"StorageObjectInUseProtection", true,
     [](const Objects&) { return NewStorageObjectInUseProtection(); }},
    {"PodGroupProtection", true},
    {"OwnerReferencesPermissionEnforcement", false},
    {"PersistentVolumeClaimResize", true, NewPersistentVolumeClaimResize},
    {"RuntimeClass", true, NewRuntimeClass},
    {"CertificateApproval", true, nullptr, Origin::kElsewhere},
    {"CertificateSigning", true, nullptr, Origin::kElsewhere},
    {"ClusterTrustBundleAttest", true},
    {"CertificateSubjectRestriction", true, nullptr, Origin::kElsewhere},
    {"DefaultIngressClass", true, NewDefaultIngressClass},
    {"DenyServiceExternalIPs", false},
    {"PodTopologyLabels", true, NewPodTopologyLabels},
    {"PodGroupWorkloadExists", true},
    {"NodeDeclaredFeatureValidator", true},
    {"JobValidation", true},
    {"PodResizeValidator", true},
    {"MutatingAdmissionPolicy", true},
    {"MutatingAdmissionWebhook", true},
    {"ValidatingAdmissionPolicy", true},
    {"ValidatingAdmissionWebhook", true},
    {"ResourceQuota", true, NewResourceQuota},
    {"AlwaysDeny", false, [](const Objects&) { return NewAlwaysDeny(); }},
};

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::vector<std::string_view> PluginNames() {
  std::vector<std::string_view> names;
  for (const auto& entry : kPlugins) names.push_back(entry.name);
  return names;
}

std::vector<std::string_view> DefaultPluginNames() {
  std::vector<std::string_view> names;
  for (const auto& entry : kPlugins) {
    if (entry.on) names.push_back(entry.name);
  }
  return names;
}

std::vector<std::string> CheckOptions(const ChainOptions& options) {
  std::vector<std::string> errors;
  const auto known = PluginNames();
  for (const auto& name : options.enable) {
    if (Has(options.disable, name)) {
      errors.push_back(fmt::format(
          "{} in enable-admission-plugins and disable-admission-plugins overlapped", name));
    }
  }
  for (auto [flag, names] : {std::pair("enable-admission-plugins", &options.enable),
                             std::pair("disable-admission-plugins", &options.disable)}) {
    for (const auto& name : *names) {
      if (std::ranges::find(known, name) == known.end()) {
        errors.push_back(fmt::format("{} plugin {} is unknown", flag, Quote(name)));
      }
    }
  }
  // Who asks for protection must not be left without it unknowingly.
  for (const auto& entry : kPlugins) {
    if (!entry.on && entry.origin == Origin::kMissing && Has(options.enable, entry.name)) {
      errors.push_back(
          fmt::format("enable-admission-plugins plugin {} is not implemented", Quote(entry.name)));
    }
  }
  return errors;
}

keelson::admission::Chain MakeChain(const ChainOptions& options, const Objects& objects,
                                    std::vector<PluginPtr> extra) {
  std::vector<PluginPtr> plugins;
  for (const auto& entry : kPlugins) {
    if (Has(options.disable, entry.name)) continue;
    if (!entry.on && !Has(options.enable, entry.name)) continue;
    auto own = std::ranges::find(extra, entry.name, &Plugin::name);
    if (own != extra.end()) {
      plugins.push_back(std::move(*own));
      extra.erase(own);
    } else if (entry.make != nullptr) {
      plugins.push_back(entry.make(objects));
    }
  }
  return keelson::admission::Chain(std::move(plugins));
}

}  // namespace keelson::kube::plugins
