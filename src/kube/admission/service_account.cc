// ServiceAccount: every pod runs as somebody, and gets a token to say so.

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "api/core_v1.h"
#include "kube/admission/plugins.h"
#include "rest/object_meta.h"
#include "value/json.h"

namespace keelson::kube::plugins {
namespace {

namespace core = api::core_v1;
using value::Document;
using value::Ref;
using value::Value;

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kEnforceSecrets = "kubernetes.io/enforce-mountable-secrets";
constexpr std::string_view kTokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::string_view kVolumePrefix = "kube-api-access-";

// The token, the cluster's root certificate and the namespace. The token lives an hour and seven
// seconds, by which upstream recognises those that it extends.
constexpr std::string_view kTokenVolume =
    R"({"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},)"
    R"({"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},)"
    R"({"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1",)"
    R"("fieldPath":"metadata.namespace"}}]}}],"defaultMode":420})";

const Value& TokenVolumeSource() {
  static const Document kSource = *value::ParseJson(kTokenVolume);
  return kSource.root();
}

bool IsMirror(const Value& pod) { return pod["metadata"]["annotations"].Find(kMirror) != nullptr; }

bool WantsToken(core::ServiceAccount account, core::PodSpec spec) {
  if (auto own = spec.automountServiceAccountToken()) return *own;
  return account.automountServiceAccountToken().value_or(true);
}

bool MountsToken(core::Container container) {
  for (auto mount : container.volumeMounts()) {
    if (mount.mountPath() == kTokenPath) return true;
  }
  return false;
}

// The volume that gives containers their token, unless they have something there already.
void MountToken(Ref pod) {
  const Value before = pod.Get()["spec"];
  const core::PodSpec spec(before);
  auto& builder = pod.builder();
  Value name;
  for (auto volume : spec.volumes()) {
    if (volume.name().starts_with(kVolumePrefix)) {
      name = volume.value()["name"];
      break;
    }
  }
  const bool has_volume = name.is_string();
  if (!has_volume) name = builder.String(rest::GenerateName(kVolumePrefix));
  using Mount = core::VolumeMount::Names;
  const value::Member mount[] = {{&Mount::name, name},
                                 {&Mount::readOnly, Value::Bool(true)},
                                 {&Mount::mountPath, Value::String(kTokenPath, /*plain=*/true)}};
  const Value mount_value = builder.Object(mount);
  bool needed = false;
  for (std::string_view list : {"initContainers", "containers"}) {
    const Value containers = before[list];
    for (size_t i = 0; i < containers.items().size(); ++i) {
      if (MountsToken(core::Container(containers.At(i)))) continue;
      Ref mounts = pod.Field("spec").Field(list).Item(i).Field("volumeMounts");
      if (!mounts.Get().is_list()) mounts.Set(Value::EmptyList());
      mounts.Append(mount_value);
      needed = true;
    }
  }
  if (has_volume || !needed) return;
  using Volume = core::Volume::Names;
  const value::Member volume[] = {{&Volume::name, name}, {&Volume::projected, TokenVolumeSource()}};
  Ref volumes = pod.Field("spec").Field("volumes");
  if (!volumes.Get().is_list()) volumes.Set(Value::EmptyList());
  volumes.Append(builder.Object(volume));
}

void AddPullSecrets(Ref pod, core::ServiceAccount account) {
  if (account.imagePullSecrets().empty()) return;
  if (!pod.Get()["spec"]["imagePullSecrets"].items().empty()) return;
  Ref secrets = pod.Field("spec").Field("imagePullSecrets");
  secrets.Set(Value::EmptyList());
  for (auto secret : account.imagePullSecrets()) {
    Ref item = secrets.Append(Value::EmptyObject());
    item.SetField("name", pod.builder().String(secret.name()));
  }
}

bool EnforcesSecrets(core::ServiceAccount account) {
  const Value* text = account.metadata().annotations().value().Find(kEnforceSecrets);
  if (!text) return false;
  const auto word = text->AsString();
  return word == "1" || word == "t" || word == "T" || word == "true" || word == "TRUE" ||
         word == "True";
}

// The first reference to a secret that the account does not list, as a sentence.
class SecretLimit {
 public:
  explicit SecretLimit(core::ServiceAccount account) : account_(account) {}

  std::string CheckPod(core::PodSpec spec) const {
    for (auto volume : spec.volumes()) {
      if (auto secret = volume.secret();
          secret && !Lists(account_.secrets(), secret.secretName())) {
        return fmt::format(
            "volume with secret.secretName=\"{}\" is not allowed because service "
            "account {} does not reference that secret",
            secret.secretName(), account_.metadata().name());
      }
    }
    for (auto container : spec.initContainers()) {
      if (auto why = CheckContainer(container, "init container"); !why.empty()) return why;
    }
    for (auto container : spec.containers()) {
      if (auto why = CheckContainer(container, "container"); !why.empty()) return why;
    }
    size_t i = 0;
    for (auto secret : spec.imagePullSecrets()) {
      const size_t index = i++;
      if (Lists(account_.imagePullSecrets(), secret.name())) continue;
      return fmt::format(
          "imagePullSecrets[{}].name=\"{}\" is not allowed because service account "
          "{} does not reference that imagePullSecret",
          index, secret.name(), account_.metadata().name());
    }
    return {};
  }

  std::string CheckContainer(core::Container container, std::string_view what) const {
    for (auto var : container.env()) {
      if (auto ref = var.valueFrom().secretKeyRef();
          ref && !Lists(account_.secrets(), ref.name())) {
        return Refuse(what, container.name(), fmt::format("envVar {}", var.name()), ref.name());
      }
    }
    for (auto source : container.envFrom()) {
      if (auto ref = source.secretRef(); ref && !Lists(account_.secrets(), ref.name())) {
        return Refuse(what, container.name(), "envFrom", ref.name());
      }
    }
    return {};
  }

 private:
  template <typename Reference>
  static bool Lists(schema::ListView<Reference> references, std::string_view name) {
    for (auto reference : references) {
      if (reference.name() == name) return true;
    }
    return false;
  }
  std::string Refuse(std::string_view what, std::string_view container, std::string_view where,
                     std::string_view secret) const {
    return fmt::format(
        "{} {} with {} referencing secret.secretName=\"{}\" is not allowed because "
        "service account {} does not reference that secret",
        what, container, where, secret, account_.metadata().name());
  }

  core::ServiceAccount account_;
};

class ServiceAccountPlugin final : public Plugin {
 public:
  explicit ServiceAccountPlugin(const Objects& objects) : objects_(objects) {}

  std::string_view name() const override { return "ServiceAccount"; }
  bool Handles(const Request& request) const override {
    return Creates(request, "", "pods") ||
           (request.operation == Operation::kUpdate && request.IsFor("", "pods") &&
            request.subresource == "ephemeralcontainers");
  }

  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref pod) const override {
    if (request.operation != Operation::kCreate) co_return ApiResult<void>();
    if (IsMirror(request.object)) co_return CheckMirror(request);
    const core::PodSpec spec(request.object["spec"]);
    if (spec.serviceAccountName().empty()) {
      Ref edited = pod.Field("spec");
      edited.SetField("serviceAccountName", Value::String("default", /*plain=*/true));
      edited.SetField("serviceAccount", Value::String("default", /*plain=*/true));
    }
    auto found = co_await Find(request, pod.Get(), kMutableBy);
    if (!found) co_return std::unexpected(std::move(found).error());
    const core::ServiceAccount account(found->root());
    if (WantsToken(account, spec)) MountToken(pod);
    AddPullSecrets(pod, account);
    co_return ApiResult<void>();
  }

  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    if (request.operation == Operation::kCreate && IsMirror(request.object)) {
      co_return CheckMirror(request);
    }
    const core::PodSpec spec(request.object["spec"]);
    if (spec.serviceAccountName().empty()) {
      co_return Forbid(request, fmt::format("no service account specified for pod {}/{}",
                                            request.ns, request.name));
    }
    auto found = co_await Find(request, request.object, kJudgedBy);
    if (!found) co_return std::unexpected(std::move(found).error());
    const core::ServiceAccount account(found->root());
    if (!EnforcesSecrets(account)) co_return ApiResult<void>();
    const SecretLimit limit(account);
    if (request.operation == Operation::kCreate) {
      if (auto why = limit.CheckPod(spec); !why.empty()) co_return Forbid(request, why);
      co_return ApiResult<void>();
    }
    for (auto container : spec.ephemeralContainers()) {
      auto why = limit.CheckContainer(core::Container(container.value()), "ephemeral container");
      if (!why.empty()) co_return std::unexpected(Status{.code = 500, .message = std::move(why)});
    }
    co_return ApiResult<void>();
  }

 private:
  // What of an account matters to a pod. An account without is as good as an empty one.
  static constexpr std::string_view kMutableBy[] = {"automountServiceAccountToken",
                                                    "imagePullSecrets"};
  static constexpr std::string_view kJudgedBy[] = {kEnforceSecrets};

  Task<ApiResult<Document>> Find(const Request& request, Value pod,
                                 std::span<const std::string_view> wanted) const {
    const auto name = pod["spec"]["serviceAccountName"].AsString();
    auto found =
        co_await objects_.Find("", "serviceaccounts", std::string(request.ns), std::string(name));
    if (!found) co_return std::unexpected(std::move(found).error());
    if (*found) {
      const auto json = (*found)->json_view();
      const bool says = std::ranges::any_of(
          wanted, [&](std::string_view text) { return json.find(text) != std::string_view::npos; });
      if (!says) co_return Document();
      auto account = value::ParseJson(json);
      if (!account) co_return std::unexpected(InternalErrorStatus(account.error().message));
      co_return *std::move(account);
    }
    co_return Forbid(request, fmt::format("error looking up service account {}/{}: serviceaccount "
                                          "\"{}\" not found",
                                          request.ns, name, name));
  }

  // A pod that a kubelet reports must not need anything from here.
  static ApiResult<void> CheckMirror(const Request& request) {
    const core::PodSpec spec(request.object["spec"]);
    if (!spec.serviceAccountName().empty()) {
      return Forbid(request, "a mirror pod may not reference service accounts");
    }
    bool secrets = !spec.imagePullSecrets().empty();
    for (auto volume : spec.volumes()) secrets = secrets || volume.secret();
    if (secrets) return Forbid(request, "a mirror pod may not reference secrets");
    for (auto volume : spec.volumes()) {
      for (auto source : volume.projected().sources()) {
        if (source.serviceAccountToken()) {
          return Forbid(request, "a mirror pod may not use ServiceAccountToken volume projections");
        }
      }
    }
    return {};
  }

  const Objects& objects_;
};

}  // namespace

PluginPtr NewServiceAccount(const Objects& objects) {
  return std::make_unique<ServiceAccountPlugin>(objects);
}

}  // namespace keelson::kube::plugins
