#include "aggregator/api_services.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "api/apiregistration_v1.h"
#include "base/log.h"
#include "rest/write.h"
#include "schema/decode_json.h"
#include "server/reply.h"
#include "value/json.h"

namespace keelson::aggregator {
namespace {

using api::apiregistration_v1::APIService;
using storage::WatchEvent;

// Marks the objects that this server made.
constexpr std::string_view kManagedLabel = "kube-aggregator.kubernetes.io/automanaged";

rest::ResourceSpec PastAdmission(rest::ResourceSpec spec) {
  spec.admission = nullptr;
  return spec;
}

std::string LocalService(const schema::GroupVersionInfo& version) {
  return fmt::format(
      R"({{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":{{"name":)"
      R"("{1}.{0}","labels":{{"{4}":"onstart"}}}},"spec":{{"group":"{0}","version":"{1}",)"
      R"("groupPriorityMinimum":{2},"versionPriority":{3}}}}})",
      version.group, version.version, version.group_priority, version.version_priority,
      kManagedLabel);
}

}  // namespace

ApiServices::ApiServices(const rest::ResourceSpec& resource, server::PathMux& mux,
                         Executor& executor)
    : resource_(PastAdmission(resource)),
      mux_(mux),
      executor_(executor),
      unavailable_(std::make_shared<server::FunctionEndpoint>([](server::RequestContext& context) {
        server::SendError(context, 503, "service unavailable");
      })) {}

ApiServices::~ApiServices() = default;

Task<Result<void>> ApiServices::WaitUntilSynced() {
  co_await synced_->Wait();
  co_return Result<void>();
}

Result<void> ApiServices::AddHooks(server::GenericApiServer& server) {
  TRY_VOID(server.AddPostStartHook(
      "apiservice-registration-controller",
      [this](const server::PostStartHookContext&) { return WaitUntilSynced(); }));
  return server.AddPostStartHook(
      "kube-apiserver-autoregistration",
      [this](const server::PostStartHookContext&) { return RegisterLocal(); });
}

void ApiServices::Start() {
  gate_.Spawn(&executor_,
              storage::Follow(*resource_.store, *this, *resource_.clock, stop_.get_token()));
}

Task<void> ApiServices::Stop() {
  stop_.request_stop();
  co_await gate_.Close();
  synced_->Raise(*resource_.clock);
}

// --- groups of this program ----------------------------------------------------------------------

Task<Result<void>> ApiServices::RegisterLocal() {
  Gate creating;
  for (const auto& version : resource_.catalog->group_versions()) {
    // The aggregator's own group is not delegated to anybody.
    if (!version.served || version.resources.empty() || version.group == kGroup) continue;
    creating.Spawn(&executor_, CreateLocal(version));
  }
  co_await creating.Close();
  co_return Result<void>();
}

// A server that cannot tell of a group serves it all the same.
Task<void> ApiServices::CreateLocal(const schema::GroupVersionInfo& version) {
  const std::string name = fmt::format("{}.{}", version.version, version.group);
  if (auto there = co_await resource_.store->Get("", name)) co_return;
  auto decoded = schema::DecodeJson(resource_.type(), LocalService(version));
  KEELSON_CHECK(decoded.has_value());
  const rest::WriteScope scope{
      .name = name, .now = resource_.clock->WallNow(), .manager = "kube-apiserver"};
  auto created = co_await rest::CreateObject(resource_, scope, std::move(decoded->object));
  if (created || created.error().reason == "AlreadyExists") co_return;
  log::WarningS("Failed to register a group", {{"name", name}, {"err", created.error().message}});
}

// --- groups of other servers ---------------------------------------------------------------------

void ApiServices::Replace(const std::vector<storage::ObjectRef>& objects) {
  std::set<std::string, std::less<>> gone;
  for (const auto& [name, route] : routes_) gone.insert(name);
  for (const auto& object : objects) {
    if (const auto known = gone.find(object->name()); known != gone.end()) gone.erase(known);
    Put(*object);
  }
  for (const auto& name : gone) Remove(name);
  synced_->Raise(*resource_.clock);
}

void ApiServices::Apply(const std::vector<WatchEvent>& events) {
  for (const auto& event : events) {
    if (!event.object) continue;
    if (event.type == WatchEvent::Type::kDeleted) {
      Remove(event.object->name());
    } else {
      Put(*event.object);
    }
  }
}

void ApiServices::Put(const storage::CachedObject& object) {
  const auto parsed = value::ParseJson(object.json_view());
  if (!parsed) {
    log::ErrorS("Unreadable APIService", {{"name", object.name()}});
    return;
  }
  const auto spec = APIService(parsed->root()).spec();
  if (!spec.service() || spec.group().empty()) return Remove(object.name());
  auto route = fmt::format("/apis/{}/{}", spec.group(), spec.version());
  const auto found = routes_.find(object.name());
  if (found != routes_.end() && found->second == route) return;
  Remove(object.name());
  mux_.HandleService(route, unavailable_);
  routes_.emplace(object.name(), std::move(route));
}

void ApiServices::Remove(std::string_view name) {
  const auto found = routes_.find(name);
  if (found == routes_.end()) return;
  mux_.Unregister(found->second);
  routes_.erase(found);
}

}  // namespace keelson::aggregator
