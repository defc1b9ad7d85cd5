// Plugins that need nothing but the request, off by default: AlwaysPullImages, AlwaysDeny.

#include "kube/admission/plugins.h"

namespace keelson::kube::plugins {
namespace {

using value::Ref;
using value::Value;

// Nobody runs an image from a node's cache without showing the registry a credential.
class AlwaysPullImages final : public Plugin {
 public:
  std::string_view name() const override { return "AlwaysPullImages"; }
  bool Handles(const Request& request) const override { return Writes(request, "", "pods"); }
  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref pod) const override {
    const Value spec = request.object["spec"];
    for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
      for (size_t i = 0; i < spec[list].items().size(); ++i) {
        pod.Field("spec").Field(list).Item(i).SetField("imagePullPolicy",
                                                       Value::String("Always", /*plain=*/true));
      }
    }
    co_return ApiResult<void>();
  }
};

class AlwaysDeny final : public Plugin {
 public:
  std::string_view name() const override { return "AlwaysDeny"; }
  bool Handles(const Request& request) const override { return true; }
  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref) const override {
    co_return Forbid(request, "admission control is denying all modifications");
  }
  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    co_return Forbid(request, "admission control is denying all modifications");
  }
};

}  // namespace

PluginPtr NewAlwaysPullImages() { return std::make_unique<AlwaysPullImages>(); }
PluginPtr NewAlwaysDeny() { return std::make_unique<AlwaysDeny>(); }

}  // namespace keelson::kube::plugins
