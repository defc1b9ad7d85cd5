#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/admission/plugins.h"

namespace keelson::kube::plugins {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> NamesOf(const ChainOptions& options) {
  const Objects objects;
  const auto chain = MakeChain(options, objects);
  std::vector<std::string> names;
  for (const auto& plugin : chain.plugins()) names.emplace_back(plugin->name());
  return names;
}

TEST(AdmissionChain, RunsTheDefaultsInOrder) {
  EXPECT_THAT(
      NamesOf({}),
      ElementsAre("LimitRanger", "ServiceAccount", "TaintNodesByCondition", "PodSecurity",
                  "Priority", "DefaultTolerationSeconds", "DefaultStorageClass",
                  "StorageObjectInUseProtection", "PersistentVolumeClaimResize", "RuntimeClass",
                  "DefaultIngressClass", "PodTopologyLabels", "ResourceQuota"));
}

TEST(AdmissionChain, FollowsTheFlags) {
  const auto names = NamesOf(
      {.enable = {"AlwaysPullImages", "Priority"}, .disable = {"ResourceQuota", "PodSecurity"}});
  EXPECT_THAT(std::vector(names.begin() + 2, names.begin() + 5),
              ElementsAre("TaintNodesByCondition", "AlwaysPullImages", "Priority"));
  EXPECT_EQ(names.back(), "PodTopologyLabels");
}

TEST(AdmissionChain, RefusesUnknownAndContradictoryNames) {
  EXPECT_THAT(CheckOptions({.enable = {"Priority"}, .disable = {"PodSecurity"}}), IsEmpty());
  EXPECT_THAT(
      CheckOptions({.enable = {"Nope", "Priority"}, .disable = {"Priority"}}),
      ElementsAre("Priority in enable-admission-plugins and disable-admission-plugins overlapped",
                  "enable-admission-plugins plugin \"Nope\" is unknown"));
}

TEST(AdmissionChain, RefusesToLeaveOutWhatWasAskedFor) {
  EXPECT_THAT(CheckOptions({.enable = {"NodeRestriction", "AlwaysAdmit", "AlwaysPullImages"}}),
              IsEmpty());
  EXPECT_THAT(CheckOptions({.enable = {"ImagePolicyWebhook"}}),
              ElementsAre("enable-admission-plugins plugin \"ImagePolicyWebhook\" is not "
                          "implemented"));
}

}  // namespace
}  // namespace keelson::kube::plugins
