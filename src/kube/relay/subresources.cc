#include "kube/relay/subresources.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/ids.h"
#include "kube/relay/relay.h"
#include "kube/relay/targets.h"
#include "value/json.h"

namespace keelson::kube {
namespace {

using rest::Request;
using rest::ResourceSpec;
using value::Document;

// An object of any kind, as it is stored.
Task<ApiResult<Document>> Fetch(const ResourceSpec& spec, std::string_view resource, std::string ns,
                                std::string name) {
  auto* store = spec.stores->FindStore("", resource);
  if (store == nullptr)
    co_return std::unexpected(NotFoundStatus({"", std::string(resource)}, name));
  auto object = co_await store->Get(std::move(ns), std::move(name));
  if (!object) co_return std::unexpected(std::move(object).error());
  auto parsed = value::ParseJson((*object)->json_view());
  if (!parsed) co_return std::unexpected(InternalErrorStatus(parsed.error().message));
  co_return *std::move(parsed);
}

Task<ApiResult<KubeletAddress>> KubeletOf(const ResourceSpec& spec, const Outbound& outbound,
                                          std::string node) {
  auto object = co_await Fetch(spec, "nodes", "", std::move(node));
  if (!object) co_return std::unexpected(std::move(object).error());
  co_return FindKubelet(object->root(), outbound.options());
}

// A browser's upgrade is a GET; it needs the same permission as the POST that others use.
Task<ApiResult<void>> MayCreate(const Request& request, const ResourceSpec& spec) {
  if (spec.authorizer == nullptr || request.user == nullptr ||
      request.exchange.request.method == "POST") {
    co_return ApiResult<void>();
  }
  const auth::Attributes attributes{.user = request.user,
                                    .resource_request = true,
                                    .verb = "create",
                                    .group = spec.info->group,
                                    .version = spec.info->version,
                                    .ns = request.ns,
                                    .resource = spec.info->plural,
                                    .subresource = request.subresource,
                                    .name = request.name};
  auto verdict = spec.authorizer->TryAuthorize(attributes);
  if (!verdict) verdict = co_await spec.authorizer->Authorize(attributes);
  if (verdict->decision == auth::Decision::kAllow) co_return ApiResult<void>();
  co_return std::unexpected(ForbiddenStatus(
      spec.group_resource(), request.name,
      fmt::format("User \"{}\" cannot create resource \"{}/{}\" in API group \"\" in the "
                  "namespace \"{}\"",
                  request.user->name, spec.info->plural, request.subresource, request.ns)));
}

class Log final : public rest::Subresource {
 public:
  explicit Log(const Outbound& outbound) : outbound_(outbound) {}
  Task<void> Connect(Request request, const ResourceSpec& spec) const override {
    auto target = co_await Locate(request, spec);
    if (!target) co_return SendStatus(request, target.error());
    if (target->empty()) co_return request.response.Send(204, {});
    const bool unverified =
        request.query.Get("insecureSkipTLSVerifyBackend").value_or("false") == "true";
    auto& client = unverified ? outbound_.unverified_kubelets() : outbound_.kubelets();
    auto answer = co_await client.Send({.url = *std::move(target), .stop = request.stop});
    if (!answer) co_return SendStatus(request, {.code = 500, .message = answer.error().message});
    if (answer->status() < 200 || answer->status() > 206) {
      auto text = co_await answer->body().ReadAll(kMaxRefusal);
      co_return SendStatus(request,
                           KubeletRefusal(answer->status(), request.name, text.value_or("")));
    }
    request.response.headers().Set("content-type", "text/plain");
    request.response.Start(200);
    co_await Pass(request, *answer);
  }

 private:
  static constexpr size_t kMaxRefusal = 50000;

  // The kubelet's URL; empty when the pod has no node yet.
  Task<ApiResult<std::string>> Locate(Request request, const ResourceSpec& spec) const {
    auto query = LogQuery(request.query, request.name);
    if (!query) co_return std::unexpected(std::move(query).error());
    auto pod = co_await Fetch(spec, "pods", std::string(request.ns), std::string(request.name));
    if (!pod) co_return std::unexpected(std::move(pod).error());
    auto container = PickContainer(pod->root(), request.query.Get("container").value_or(""));
    if (!container) co_return std::unexpected(std::move(container).error());
    const std::string node(pod->root()["spec"]["nodeName"].AsString());
    if (node.empty()) co_return std::string();
    auto kubelet = co_await KubeletOf(spec, outbound_, node);
    if (!kubelet) co_return std::unexpected(std::move(kubelet).error());
    co_return fmt::format("https://{}/containerLogs/{}/{}/{}{}{}", kubelet->authority(), request.ns,
                          request.name, *container, query->empty() ? "" : "?", *query);
  }

  static Task<void> Pass(Request request, http::ClientResponse& answer) {
    for (;;) {
      auto piece = co_await answer.body().Read();
      if (!piece) co_return request.response.Abort();
      if (piece->empty()) break;
      std::vector<Slice> slices;
      slices.push_back(*std::move(piece));
      if (!co_await request.response.Write(std::move(slices))) co_return;
    }
    request.response.Finish();
  }

  const Outbound& outbound_;
};

// exec, attach and portforward: always a change of protocols.
class Stream final : public rest::Subresource {
 public:
  enum class What : uint8_t { kExec, kAttach, kPortForward };
  Stream(const Outbound& outbound, What what) : outbound_(outbound), what_(what) {}

  Task<void> Connect(Request request, const ResourceSpec& spec) const override {
    if (auto allowed = co_await MayCreate(request, spec); !allowed) {
      co_return SendStatus(request, allowed.error());
    }
    auto target = co_await Locate(request, spec);
    if (!target) co_return SendStatus(request, target.error());
    if (!AsksForUpgrade(request.exchange.request)) {
      co_return SendStatus(request, BadRequestStatus("Upgrade request required"));
    }
    co_await RelayUpgrade(request, outbound_.kubelets(), *std::move(target));
  }

 private:
  Task<ApiResult<RelayTarget>> Locate(Request request, const ResourceSpec& spec) const {
    auto pod = co_await Fetch(spec, "pods", std::string(request.ns), std::string(request.name));
    if (!pod) co_return std::unexpected(std::move(pod).error());
    RelayTarget target;
    if (what_ == What::kPortForward) {
      target.path = fmt::format("/portForward/{}/{}", request.ns, request.name);
      target.query = PortForwardQuery(request.query);
    } else {
      auto container = PickContainer(pod->root(), request.query.Get("container").value_or(""));
      if (!container) co_return std::unexpected(std::move(container).error());
      const bool exec = what_ == What::kExec;
      target.path = fmt::format("/{}/{}/{}/{}", exec ? "exec" : "attach", request.ns, request.name,
                                *container);
      target.query = StreamQuery(request.query, exec);
    }
    const std::string node(pod->root()["spec"]["nodeName"].AsString());
    if (node.empty()) {
      co_return std::unexpected(
          BadRequestStatus(fmt::format("pod {} does not have a host assigned", request.name)));
    }
    auto kubelet = co_await KubeletOf(spec, outbound_, node);
    if (!kubelet) co_return std::unexpected(std::move(kubelet).error());
    target.origin = "https://" + kubelet->authority();
    co_return target;
  }

  const Outbound& outbound_;
  const What what_;
};

// Whatever is asked of a pod, a service or a node by HTTP.
class Proxy final : public rest::Subresource {
 public:
  enum class What : uint8_t { kPod, kService, kNode };
  Proxy(const Outbound& outbound, What what) : outbound_(outbound), what_(what) {}

  Task<void> Connect(Request request, const ResourceSpec& spec) const override {
    auto name = ParseProxyName(request.name);
    if (!name) {
      constexpr std::string_view kNames[] = {"pod", "service", "node"};
      co_return SendStatus(
          request, BadRequestStatus(fmt::format("invalid {} request \"{}\"",
                                                kNames[static_cast<size_t>(what_)], request.name)));
    }
    auto place = co_await Locate(request, spec, *name);
    if (!place) co_return SendStatus(request, place.error());
    const auto& asked = request.exchange.request;
    RelayTarget target{place->origin, PathOf(request), std::string(asked.raw_query)};
    if (AsksForUpgrade(asked)) {
      co_return co_await RelayUpgrade(request, *place->client, std::move(target));
    }
    if (target.path.empty() && (asked.method == "GET" || asked.method == "HEAD")) {
      request.response.headers().Set(
          "location",
          fmt::format("{}/{}{}", asked.path, asked.raw_query.empty() ? "" : "?", asked.raw_query));
      co_return request.response.Send(301, {});
    }
    std::string prefix(asked.path.substr(0, asked.path.find("/proxy") + 6));
    co_await RelayPlain(request, *place->client, std::move(target), std::move(prefix));
  }

 private:
  struct Place {
    std::string origin;
    http::Client* client = nullptr;
  };

  static std::string PathOf(const Request& request) {
    if (request.path.empty()) return request.exchange.request.path.ends_with('/') ? "/" : "";
    std::string path = EscapePath(request.path);
    return path.starts_with('/') ? path : "/" + path;
  }

  Task<ApiResult<Place>> Locate(Request request, const ResourceSpec& spec, ProxyName name) const {
    switch (what_) {
      case What::kPod:
        co_return co_await LocatePod(request, spec, name);
      case What::kService:
        co_return co_await LocateService(request, spec, name);
      case What::kNode:
        break;
    }
    auto kubelet = co_await KubeletOf(spec, outbound_, std::string(name.name));
    if (!kubelet) co_return std::unexpected(std::move(kubelet).error());
    if (name.port.empty() || name.port == kubelet->port) {
      co_return Place{"https://" + kubelet->authority(), &outbound_.proxied_kubelets()};
    }
    kubelet->port = name.port;
    co_return Place{
        fmt::format("{}://{}", name.scheme.empty() ? "http" : name.scheme, kubelet->authority()),
        &outbound_.workloads()};
  }

  Task<ApiResult<Place>> LocatePod(Request request, const ResourceSpec& spec,
                                   ProxyName name) const {
    auto pod = co_await Fetch(spec, "pods", std::string(request.ns), std::string(name.name));
    if (!pod) co_return std::unexpected(std::move(pod).error());
    auto origin = PodOrigin(pod->root(), name);
    if (!origin) co_return std::unexpected(std::move(origin).error());
    co_return Place{*std::move(origin), &outbound_.workloads()};
  }

  Task<ApiResult<Place>> LocateService(Request request, const ResourceSpec& spec,
                                       ProxyName name) const {
    const std::string ns(request.ns);
    const std::string service(name.name);
    std::string port(name.port);
    if (!port.empty() && port.find_first_not_of("0123456789") == port.npos) {
      auto object = co_await Fetch(spec, "services", ns, service);
      if (!object) co_return std::unexpected(std::move(object).error());
      auto named = ServicePortName(object->root(), name);
      if (!named) co_return std::unexpected(std::move(named).error());
      port = *std::move(named);
    }
    auto endpoints = co_await Fetch(spec, "endpoints", ns, service);
    if (!endpoints) {
      // As upstream, which asks for the endpoints and answers for the service.
      co_return std::unexpected(endpoints.error().code == 404
                                    ? NotFoundStatus({"", "services"}, service)
                                    : std::move(endpoints).error());
    }
    auto choices = EndpointChoices(endpoints->root(), port);
    for (size_t first = choices.empty() ? 0 : RandomBelow(choices.size()), i = 0;
         i < choices.size(); ++i) {
      const auto& choice = choices[(first + i) % choices.size()];
      if (!co_await IsPodAddress(spec, choice)) continue;
      const bool brackets = choice.ip.find(':') != choice.ip.npos;
      co_return Place{fmt::format("{}://{}{}{}:{}", name.scheme.empty() ? "http" : name.scheme,
                                  brackets ? "[" : "", choice.ip, brackets ? "]" : "", choice.port),
                      &outbound_.workloads()};
    }
    const bool none = endpoints->root()["subsets"].items().empty();
    co_return std::unexpected(
        Status{.code = 503,
               .reason = "ServiceUnavailable",
               .message = fmt::format("no endpoints available for service \"{}\"",
                                      none ? name.name : request.name)});
  }

  // Only addresses of pods are relayed to: anybody may write Endpoints.
  static Task<bool> IsPodAddress(const ResourceSpec& spec, EndpointChoice choice) {
    auto pod = co_await Fetch(spec, "pods", choice.pod_namespace, choice.pod);
    if (!pod) co_return false;
    for (const auto& ip : pod->root()["status"]["podIPs"].items()) {
      if (ip["ip"].AsString() == choice.ip) co_return true;
    }
    co_return false;
  }

  const Outbound& outbound_;
  const What what_;
};

}  // namespace

Relays::Relays(const Outbound& outbound) {
  auto add = [this](std::string_view resource, std::string_view subresource,
                    std::unique_ptr<const rest::Subresource> handler) {
    entries_.push_back(
        {.group = "", .resource = resource, .subresource = subresource, .handler = handler.get()});
    handlers_.push_back(std::move(handler));
  };
  add("pods", "log", std::make_unique<Log>(outbound));
  add("pods", "exec", std::make_unique<Stream>(outbound, Stream::What::kExec));
  add("pods", "attach", std::make_unique<Stream>(outbound, Stream::What::kAttach));
  add("pods", "portforward", std::make_unique<Stream>(outbound, Stream::What::kPortForward));
  add("pods", "proxy", std::make_unique<Proxy>(outbound, Proxy::What::kPod));
  add("services", "proxy", std::make_unique<Proxy>(outbound, Proxy::What::kService));
  add("nodes", "proxy", std::make_unique<Proxy>(outbound, Proxy::What::kNode));
}

Relays::~Relays() = default;

}  // namespace keelson::kube
