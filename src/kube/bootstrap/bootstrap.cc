#include "kube/bootstrap/bootstrap.h"

#include <utility>

#include "base/executor.h"
#include "rest/write.h"
#include "value/document.h"

namespace keelson::kube::bootstrap {
namespace {

using value::Document;

constexpr std::string_view kManager = "kube-apiserver";

std::string TextAt(const Document& object, std::string_view field) {
  return std::string(object.root()["metadata"][field].AsString());
}

// Sets one field of an object and leaves the rest alone; a missing object is taken as it is.
class FieldMutation final : public rest::Mutation {
 public:
  FieldMutation(Document wanted, std::string_view field)
      : wanted_(std::move(wanted)), field_(field) {}

  ApiResult<Document> Mutate(const Document* live) override {
    if (live == nullptr) return wanted_;
    value::Builder builder(*live);
    const auto value = builder.Adopt(wanted_)[field_];
    if (value.is_null()) {
      builder.root().RemoveField(field_);
    } else {
      builder.root().SetField(field_, value);
    }
    return std::move(builder).Finish();
  }

 private:
  const Document wanted_;
  const std::string_view field_;
};

}  // namespace

Bootstrap::Bootstrap(Options options, Resources resources, Clock& clock)
    : options_(std::move(options)), resources_(std::move(resources)), clock_(clock) {
  for (auto* spec : {&resources_.namespaces, &resources_.services, &resources_.endpoints,
                     &resources_.endpoint_slices, &resources_.service_cidrs,
                     &resources_.priority_classes, &resources_.priority_levels,
                     &resources_.flow_schemas, &resources_.config_maps, &resources_.leases}) {
    spec->admission = nullptr;  // the server's own objects are not for admission to judge
  }
  resources_.service_cidrs.strategy = &whole_;
  resources_.flow_schemas.strategy = &counted_;
}

Task<void> Bootstrap::CreateOne(const rest::ResourceSpec& spec, Document object,
                                Result<void>& result) {
  const std::string ns = TextAt(object, "namespace");
  const std::string name = TextAt(object, "name");
  // Mostly it is there already, which is cheaper to see than to run into.
  if (co_await spec.store->Get(ns, name)) co_return;
  const rest::WriteScope scope{
      .ns = ns, .name = name, .now = clock_.WallNow(), .manager = kManager};
  auto created = co_await rest::CreateObject(spec, scope, std::move(object));
  if (!created && created.error().reason != "AlreadyExists") {
    result = Fail(ErrorCode::kInternal, "creating {} \"{}\": {}", spec.info->plural, name,
                  created.error().message);
  }
}

Task<Result<void>> Bootstrap::CreateAll(const rest::ResourceSpec& spec,
                                        std::vector<Document> objects) {
  Result<void> result;
  Gate gate;
  for (auto& object : objects) {
    gate.Spawn(Executor::Current(), CreateOne(spec, std::move(object), result));
  }
  co_await gate.Close();
  co_return result;
}

Task<Result<void>> Bootstrap::FlowControl() {
  Result<void> result;
  Gate gate;
  for (auto& level : PriorityLevels()) {
    gate.Spawn(Executor::Current(),
               CreateOne(resources_.priority_levels, std::move(level), result));
  }
  for (auto& schema : FlowSchemas(clock_.WallNow())) {
    gate.Spawn(Executor::Current(), CreateOne(resources_.flow_schemas, std::move(schema), result));
  }
  co_await gate.Close();
  co_return result;
}

Task<Result<void>> Bootstrap::Publish(const rest::ResourceSpec& spec, Document wanted,
                                      std::string_view field) {
  const std::string ns = TextAt(wanted, "namespace");
  const std::string name = TextAt(wanted, "name");
  const rest::WriteScope scope{
      .ns = ns, .name = name, .now = clock_.WallNow(), .manager = kManager};
  FieldMutation mutation(std::move(wanted), field);
  auto written = co_await rest::ChangeObject(spec, scope, mutation, {.may_create = true});
  if (!written) {
    co_return Fail(ErrorCode::kInternal, "publishing {} \"{}\": {}", spec.info->plural, name,
                   written.error().message);
  }
  co_return Result<void>();
}

namespace {

Task<void> Keep(Task<Result<void>> task, Result<void>& result) {
  auto done = co_await std::move(task);
  if (!done) result = std::move(done);
}

}  // namespace

Task<void> Bootstrap::CreateService(Result<void>& result) {
  auto service = KubernetesService(options_.server);
  const std::string name = TextAt(service, "name");
  const std::string ns = TextAt(service, "namespace");
  if (co_await resources_.services.store->Get(ns, name)) co_return;
  const std::string address = options_.server.cluster_address.ToString();
  if (auto taken = co_await resources_.ip_addresses.store->Get("", address)) {
    const auto object = rest::DecodeStored(resources_.ip_addresses, **taken);
    const auto parent = object ? object->root()["spec"]["parentRef"] : value::Value();
    if (parent["namespace"].AsString() == ns && parent["name"].AsString() == name) {
      co_await resources_.ip_addresses.store->Delete("", address);
    }
  }
  co_await CreateOne(resources_.services, std::move(service), result);
}

Task<Result<void>> Bootstrap::KubernetesServiceAndEndpoints() {
  Result<void> result;
  Gate gate;
  auto* here = Executor::Current();
  gate.Spawn(here, CreateService(result));
  if (options_.publish_endpoints) {
    gate.Spawn(here,
               Keep(Publish(resources_.endpoints, KubernetesEndpoints(options_.server), "subsets"),
                    result));
    gate.Spawn(here, Keep(Publish(resources_.endpoint_slices,
                                  KubernetesEndpointSlice(options_.server), "endpoints"),
                          result));
  }
  co_await gate.Close();
  co_return result;
}

// A server that goes away takes its address with it.
Task<Result<void>> Bootstrap::Unpublish() {
  if (!options_.publish_endpoints) co_return Result<void>();
  auto without = [](const Document& object, std::string_view field) {
    value::Builder builder(object);
    builder.root().RemoveField(field);
    return std::move(builder).Finish();
  };
  Result<void> result;
  Gate gate;
  auto* here = Executor::Current();
  gate.Spawn(here,
             Keep(Publish(resources_.endpoints,
                          without(KubernetesEndpoints(options_.server), "subsets"), "subsets"),
                  result));
  gate.Spawn(here, Keep(Publish(resources_.endpoint_slices,
                                without(KubernetesEndpointSlice(options_.server), "endpoints"),
                                "endpoints"),
                        result));
  co_await gate.Close();
  co_return result;
}

Result<void> Bootstrap::AddHooks(server::GenericApiServer& server) {
  using server::PostStartHookContext;
  TRY_VOID(
      server.AddPostStartHook("start-system-namespaces-controller", [this](PostStartHookContext) {
        return CreateAll(resources_.namespaces, SystemNamespaces());
      }));
  TRY_VOID(server.AddPostStartHook(
      "start-kube-apiserver-identity-lease-controller", [this](PostStartHookContext) {
        const auto identity = MakeIdentity(options_.hostname, options_.server);
        return Publish(resources_.leases, IdentityLease(identity, clock_.WallNow()), "spec");
      }));
  TRY_VOID(server.AddPostStartHook(
      "start-legacy-token-tracking-controller", [this](PostStartHookContext) {
        return CreateAll(resources_.config_maps, {TokenTracking(clock_.WallNow())});
      }));
  TRY_VOID(server.AddPostStartHook(
      "scheduling/bootstrap-system-priority-classes", [this](PostStartHookContext) {
        return CreateAll(resources_.priority_classes, SystemPriorityClasses());
      }));
  TRY_VOID(server.AddPostStartHook("priority-and-fairness-config-producer",
                                   [this](PostStartHookContext) { return FlowControl(); }));
  TRY_VOID(server.AddPostStartHook("bootstrap-controller", [this](PostStartHookContext) {
    return KubernetesServiceAndEndpoints();
  }));
  TRY_VOID(server.AddPostStartHook(
      "start-kubernetes-service-cidr-controller", [this](PostStartHookContext) {
        return CreateAll(resources_.service_cidrs,
                         {DefaultServiceCidr(options_.cluster_ip_ranges, clock_.WallNow())});
      }));
  return server.AddPreShutdownHook("stop-kubernetes-service-controller",
                                   [this] { return Unpublish(); });
}

}  // namespace keelson::kube::bootstrap
