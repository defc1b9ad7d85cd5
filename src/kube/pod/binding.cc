// POST .../pods/a/binding: the scheduler's word on where a pod runs.

#include <fmt/format.h>

#include "api/core_v1.h"
#include "base/quote.h"
#include "kube/pod/conditions.h"
#include "kube/pod/subresources.h"
#include "rest/stored_edit.h"
#include "schema/field_error.h"

namespace keelson::kube::pod {
namespace {

namespace core = api::core_v1;
using rest::Reply;
using value::Document;
using value::Path;
using value::Ref;
using value::Value;

std::unexpected<Status> Conflict(std::string_view pod, std::string_view why) {
  return std::unexpected(ConflictStatus({"", "pods/binding"}, pod, why));
}

class Assignment final : public rest::StoredEdit {
 public:
  Assignment(const schema::ResourceInfo& pods, const rest::WriteScope& scope, core::Binding binding)
      : StoredEdit(pods, scope.dry_run), scope_(scope), binding_(binding) {}

  ApiResult<bool> Edit(Ref pod) override {
    const Value before = pod.Get();
    const core::PodSpec spec(before["spec"]);
    const auto name = before["metadata"]["name"].AsString();
    if (!before["metadata"]["deletionTimestamp"].is_null()) {
      return Conflict(name,
                      fmt::format("pod {} is being deleted, cannot be assigned to a host", name));
    }
    if (!spec.nodeName().empty()) {
      return Conflict(
          name, fmt::format("pod {} is already assigned to node {}", name, Quote(spec.nodeName())));
    }
    if (!spec.schedulingGates().empty()) {
      return Conflict(name, fmt::format("pod {} has non-empty .spec.schedulingGates", name));
    }
    pod.Field("spec").SetField("nodeName", pod.builder().String(binding_.target().name()));
    pod.Field("status").RemoveField("nominatedNodeName");
    Copy(pod, "annotations", binding_.metadata().annotations().value());
    Copy(pod, "labels", binding_.metadata().labels().value());
    SetCondition(pod, {.type = "PodScheduled", .status = "True"}, scope_.now);
    return true;
  }

 private:
  static void Copy(Ref pod, std::string_view field, const Value& from) {
    for (const auto& member : from.members()) {
      pod.Field("metadata")
          .Field(field)
          .SetField(member.key(), pod.builder().String(member.value.AsString()));
    }
  }

  const rest::WriteScope& scope_;
  core::Binding binding_;
};

// What is wrong with the binding itself. Upstream answers 500 for lack of a better idea.
std::string Complaint(core::Binding binding) {
  static constexpr std::string_view kKinds[] = {"Node", "<empty>"};
  schema::FieldErrors errors;
  const Path path("target");
  const auto kind = binding.target().value()["kind"].AsString();
  if (!kind.empty() && kind != "Node") {
    errors.push_back(schema::NotSupported(path.Child("kind"), kind, kKinds));
  }
  if (binding.target().name().empty()) {
    errors.push_back(schema::Required(path.Child("name"), ""));
  }
  return errors.empty() ? std::string() : schema::Join(errors);
}

}  // namespace

Task<ApiResult<Reply>> BindingHandler::Create(const rest::SubresourceCall& call,
                                              Document object) const {
  const core::Binding binding(object.root());
  const auto name = binding.metadata().name();
  if (!legacy_ && name != call.request.name) {
    co_return std::unexpected(
        BadRequestStatus("name in URL does not match name in Binding object"));
  }
  if (auto complaint = Complaint(binding); !complaint.empty()) {
    co_return std::unexpected(Status{.code = 500, .message = std::move(complaint)});
  }
  auto* pods = call.spec.stores->FindStore("", "pods");
  const auto* version = call.spec.catalog->Find("", "v1");
  storage::ChangeOptions options;
  if (auto uid = binding.metadata().uid(); !uid.empty()) {
    options.preconditions.uid = std::string(uid);
  }
  if (auto wanted = binding.metadata().resourceVersion(); !wanted.empty()) {
    options.preconditions.resource_version = std::string(wanted);
  }
  Assignment assignment(*version->FindResource("pods"), call.scope, binding);
  auto stored = co_await pods->Modify(std::string(call.request.ns), std::string(name),
                                      std::move(options), assignment);
  if (!stored) co_return std::unexpected(std::move(stored).error());
  co_return rest::SuccessReply();
}

}  // namespace keelson::kube::pod
