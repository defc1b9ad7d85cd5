#pragma once

// The plugins of the built-in API, and the chain of them.
//
// Each plugin is one file; `objects` outlives it. The order and which are on by default are
// upstream's (chain.cc holds the table).

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "base/result.h"
#include "kube/admission/objects.h"

namespace keelson::kube::plugins {

using PluginPtr = std::unique_ptr<const Plugin>;

// --enable-admission-plugins and --disable-admission-plugins.
struct ChainOptions {
  std::vector<std::string> enable;
  std::vector<std::string> disable;
};

// The names of all plugins, in the order they are asked, and of those that are on by default; for
// the flags' help.
std::vector<std::string_view> PluginNames();
std::vector<std::string_view> DefaultPluginNames();
// What is wrong with the options, in upstream's words; one message each.
std::vector<std::string> CheckOptions(const ChainOptions& options);
// `extra` are plugins that live elsewhere; they take the place of their name.
keelson::admission::Chain MakeChain(const ChainOptions& options, const Objects& objects,
                                    std::vector<PluginPtr> extra = {});

PluginPtr NewLimitRanger(const Objects& objects);
PluginPtr NewServiceAccount(const Objects& objects);
PluginPtr NewTaintNodesByCondition();
PluginPtr NewPodSecurity(const Objects& objects);
PluginPtr NewPriority(const Objects& objects);
PluginPtr NewDefaultTolerationSeconds();
PluginPtr NewDefaultStorageClass(const Objects& objects);
PluginPtr NewStorageObjectInUseProtection();
PluginPtr NewPersistentVolumeClaimResize(const Objects& objects);
PluginPtr NewRuntimeClass(const Objects& objects);
PluginPtr NewDefaultIngressClass(const Objects& objects);
PluginPtr NewPodTopologyLabels(const Objects& objects);
PluginPtr NewResourceQuota(const Objects& objects);
PluginPtr NewAlwaysPullImages();
PluginPtr NewAlwaysDeny();

}  // namespace keelson::kube::plugins
