#include "kube/component_statuses.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "value/json.h"

namespace keelson::kube {
namespace {

struct Component {
  std::string_view name;
  std::string_view url;  // empty: the server's own store, which is fine while the server answers
};

constexpr Component kComponents[] = {
    {"scheduler", "https://127.0.0.1:10259/healthz"},
    {"controller-manager", "https://127.0.0.1:10257/healthz"},
    {"etcd-0", ""},
};
constexpr auto kPatience = std::chrono::seconds(20);
constexpr size_t kMaxReport = 10 << 10;

struct Health {
  bool healthy = true;
  std::string message = "ok";
};

Task<Health> Ask(http::Client& client, std::string url) {
  if (url.empty()) co_return Health{};
  auto response = co_await client.Send({.url = std::move(url), .timeout = kPatience});
  if (!response) co_return Health{false, response.error().message};
  auto body = co_await response->body().ReadAll(kMaxReport);
  if (!body) co_return Health{false, body.error().message};
  if (response->status() == 200) co_return Health{true, *std::move(body)};
  co_return Health{false, fmt::format("HTTP probe failed with statuscode: {}", response->status())};
}

value::Document StatusOf(std::string_view name, const Health& health) {
  value::Builder builder;
  auto root = builder.root();
  root.SetField("kind", value::Value::String("ComponentStatus"));
  root.SetField("apiVersion", value::Value::String("v1"));
  root.Field("metadata").SetField("name", builder.String(name));
  root.SetField("conditions", value::Value::EmptyList());
  auto entry = root.Field("conditions").Append(value::Value::EmptyObject());
  entry.SetField("type", value::Value::String("Healthy"));
  entry.SetField("status", value::Value::String(health.healthy ? "True" : "False"));
  entry.SetField("message", builder.String(health.message));
  return std::move(builder).Finish();
}

}  // namespace

ComponentStatuses::ComponentStatuses(std::unique_ptr<http::Client> client)
    : client_(std::move(client)), kinds_{{"", "componentstatuses", this}} {}

Result<std::unique_ptr<ComponentStatuses>> ComponentStatuses::Create(net::IoPool& pool) {
  http::ClientOptions options;
  options.tls.verify_server = false;  // they make up their certificates themselves
  TRY(auto client, http::Client::Create(std::move(options), pool));
  return std::unique_ptr<ComponentStatuses>(new ComponentStatuses(std::move(client)));
}

Task<ApiResult<std::vector<value::Document>>> ComponentStatuses::List() const {
  std::vector<value::Document> statuses;
  for (const auto& [name, url] : kComponents) {
    statuses.push_back(StatusOf(name, co_await Ask(*client_, std::string(url))));
  }
  co_return statuses;
}

Status ComponentStatuses::NotFound(std::string_view name) const {
  return NotFoundStatus({"", "componentstatus"}, name);
}

}  // namespace keelson::kube
