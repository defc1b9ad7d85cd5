// Plugins about storage and ingress classes: DefaultStorageClass, DefaultIngressClass,
// StorageObjectInUseProtection, PersistentVolumeClaimResize.

#include <algorithm>

#include "api/core_v1.h"
#include "kube/admission/plugins.h"
#include "value/quantity.h"

namespace keelson::kube::plugins {
namespace {

namespace core = api::core_v1;
using value::Document;
using value::Ref;
using value::Value;

constexpr std::string_view kStorageClassAnnotation = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view kIngressClassAnnotation = "kubernetes.io/ingress.class";

// The class that an annotation marks as the default: the newest, then the first by name. An empty
// document if none is.
Task<ApiResult<Document>> FindDefault(const Objects& objects, std::string_view group,
                                      std::string_view resource,
                                      std::span<const std::string_view> annotations) {
  auto classes = co_await objects.List(group, resource, "", "is-default-class");
  if (!classes) co_return std::unexpected(std::move(classes).error());
  Document chosen;
  for (auto& candidate : *classes) {
    const Value metadata = candidate.root()["metadata"];
    const bool is_default = std::ranges::any_of(annotations, [&](std::string_view annotation) {
      return metadata["annotations"][annotation].AsString() == "true";
    });
    if (!is_default) continue;
    const Value best = chosen.root()["metadata"];
    // Times are RFC 3339, so text order is time order; names come sorted.
    if (best.is_null() ||
        metadata["creationTimestamp"].AsString() > best["creationTimestamp"].AsString()) {
      chosen = std::move(candidate);
    }
  }
  co_return chosen;
}

class DefaultStorageClass final : public Plugin {
 public:
  explicit DefaultStorageClass(const Objects& objects) : objects_(objects) {}

  std::string_view name() const override { return "DefaultStorageClass"; }
  bool Handles(const Request& request) const override {
    return Creates(request, "", "persistentvolumeclaims") &&
           request.object["spec"]["storageClassName"].is_null() &&
           !request.object["metadata"]["annotations"].Find(kStorageClassAnnotation);
  }
  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref claim) const override {
    static constexpr std::string_view kMarks[] = {
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class"};
    auto found = co_await FindDefault(objects_, "storage.k8s.io", "storageclasses", kMarks);
    if (!found) co_return std::unexpected(std::move(found).error());
    const auto name = found->root()["metadata"]["name"].AsString();
    if (!name.empty()) {
      claim.Field("spec").SetField("storageClassName", claim.builder().String(name));
    }
    co_return ApiResult<void>();
  }

 private:
  const Objects& objects_;
};

class DefaultIngressClass final : public Plugin {
 public:
  explicit DefaultIngressClass(const Objects& objects) : objects_(objects) {}

  std::string_view name() const override { return "DefaultIngressClass"; }
  bool Handles(const Request& request) const override {
    return Creates(request, "networking.k8s.io", "ingresses") &&
           request.object["spec"]["ingressClassName"].is_null() &&
           !request.object["metadata"]["annotations"].Find(kIngressClassAnnotation);
  }
  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref ingress) const override {
    static constexpr std::string_view kMarks[] = {"ingressclass.kubernetes.io/is-default-class"};
    auto found = co_await FindDefault(objects_, "networking.k8s.io", "ingressclasses", kMarks);
    if (!found) co_return std::unexpected(std::move(found).error());
    const auto name = found->root()["metadata"]["name"].AsString();
    if (!name.empty()) {
      ingress.Field("spec").SetField("ingressClassName", ingress.builder().String(name));
    }
    co_return ApiResult<void>();
  }

 private:
  const Objects& objects_;
};

// Storage in use is not deleted under its users' feet: a controller lets it go.
class StorageObjectInUseProtection final : public Plugin {
 public:
  std::string_view name() const override { return "StorageObjectInUseProtection"; }
  bool Handles(const Request& request) const override { return !FinalizerFor(request).empty(); }
  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref object) const override {
    const auto finalizer = FinalizerFor(request);
    for (const Value& item : request.object["metadata"]["finalizers"].items()) {
      if (item.AsString() == finalizer) co_return ApiResult<void>();
    }
    Ref list = object.Field("metadata").Field("finalizers");
    if (!list.Get().is_list()) list.Set(Value::EmptyList());
    object.Field("metadata").Field("finalizers").Append(Value::String(finalizer, /*plain=*/true));
    co_return ApiResult<void>();
  }

 private:
  static std::string_view FinalizerFor(const Request& request) {
    if (request.operation != Operation::kCreate || !request.subresource.empty()) return {};
    if (request.IsFor("", "persistentvolumes")) return "kubernetes.io/pv-protection";
    if (request.IsFor("", "persistentvolumeclaims")) return "kubernetes.io/pvc-protection";
    if (request.IsFor("storage.k8s.io", "volumeattributesclasses")) {
      return "kubernetes.io/vac-protection";
    }
    return {};
  }
};

value::Quantity StorageOf(const Value& claim) {
  const auto text = claim["spec"]["resources"]["requests"]["storage"].AsString();
  auto quantity = value::Quantity::Parse(text);
  return quantity ? *std::move(quantity) : value::Quantity();
}

std::string_view ClassOf(const Value& claim) {
  const Value* annotation = claim["metadata"]["annotations"].Find(kStorageClassAnnotation);
  return annotation ? annotation->AsString() : claim["spec"]["storageClassName"].AsString();
}

class PersistentVolumeClaimResize final : public Plugin {
 public:
  explicit PersistentVolumeClaimResize(const Objects& objects) : objects_(objects) {}

  std::string_view name() const override { return "PersistentVolumeClaimResize"; }
  bool Handles(const Request& request) const override {
    return request.operation == Operation::kUpdate && request.subresource.empty() &&
           request.IsFor("", "persistentvolumeclaims") &&
           StorageOf(request.object).Compare(StorageOf(request.old_object)) > 0;
  }
  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    if (request.old_object["status"]["phase"].AsString() != "Bound") {
      co_return Forbid(request, "Only bound persistent volume claims can be expanded");
    }
    const auto name = ClassOf(request.object);
    bool allowed = false;
    if (!name.empty() && name == ClassOf(request.old_object)) {
      auto found = co_await objects_.Get("storage.k8s.io", "storageclasses", "", std::string(name));
      if (!found) co_return std::unexpected(std::move(found).error());
      allowed = *found && (*found)->root()["allowVolumeExpansion"].AsBool();
    }
    if (allowed) co_return ApiResult<void>();
    co_return Forbid(request,
                     "only dynamically provisioned pvc can be resized and the storageclass "
                     "that provisions the pvc must support resize");
  }

 private:
  const Objects& objects_;
};

}  // namespace

PluginPtr NewDefaultStorageClass(const Objects& objects) {
  return std::make_unique<DefaultStorageClass>(objects);
}
PluginPtr NewDefaultIngressClass(const Objects& objects) {
  return std::make_unique<DefaultIngressClass>(objects);
}
PluginPtr NewStorageObjectInUseProtection() {
  return std::make_unique<StorageObjectInUseProtection>();
}
PluginPtr NewPersistentVolumeClaimResize(const Objects& objects) {
  return std::make_unique<PersistentVolumeClaimResize>(objects);
}

}  // namespace keelson::kube::plugins
