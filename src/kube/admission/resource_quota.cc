// ResourceQuota: a namespace's budget. What a request costs is added to the quota's status before
// the object is stored; a controller corrects it when objects go away.

#include <fmt/format.h>

#include <algorithm>

#include "api/catalog.h"
#include "kube/admission/plugins.h"
#include "kube/admission/resource_usage.h"
#include "rest/stored_edit.h"

namespace keelson::kube::plugins {
namespace {

using value::Document;
using value::Quantity;
using value::Ref;
using value::Value;

Quantity Parse(const Value& text) {
  auto quantity = Quantity::Parse(text.AsString());
  return quantity ? *std::move(quantity) : Quantity();
}

// a=1,b=2
template <typename Amount>
std::string Show(const std::vector<std::string>& names, Amount&& amount) {
  std::vector<std::string> parts;
  for (const auto& name : names) parts.push_back(fmt::format("{}={}", name, amount(name)));
  return fmt::format("{}", fmt::join(parts, ","));
}

// What `delta` would do to a quota: the sentence that refuses it, or nothing.
std::string Exceeded(const Value& quota, const Usage& delta) {
  const Value hard = quota["status"]["hard"];
  const Value used = quota["status"]["used"];
  std::vector<std::string> names;
  for (const auto& [name, amount] : delta) {
    const Value* limit = hard.Find(name);
    if (!limit) continue;
    Quantity sum = Parse(used[name]);
    sum.Add(amount);
    if (sum.Compare(Parse(*limit)) > 0) names.push_back(name);
  }
  if (names.empty()) return {};
  return fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}",
                     quota["metadata"]["name"].AsString(),
                     Show(names, [&](const auto& name) { return delta.at(name).ToString(); }),
                     Show(names, [&](const auto& name) { return Parse(used[name]).ToString(); }),
                     Show(names, [&](const auto& name) { return Parse(hard[name]).ToString(); }));
}

// Adds to what a quota counts as used.
class Charge final : public rest::StoredEdit {
 public:
  Charge(const schema::ResourceInfo& quotas, const Request& request, const Usage& delta)
      : StoredEdit(quotas, request.dry_run), request_(request), delta_(delta) {}

  ApiResult<bool> Edit(Ref quota) override {
    const Value before = quota.Get();
    if (auto why = Exceeded(before, delta_); !why.empty()) return Forbid(request_, why);
    bool charged = false;
    for (const auto& [name, amount] : delta_) {
      if (!before["status"]["hard"].Find(name) || amount.IsZero()) continue;
      Quantity sum = Parse(before["status"]["used"][name]);
      sum.Add(amount);
      quota.Field("status").Field("used").SetField(name, quota.builder().String(sum.ToString()));
      charged = true;
    }
    return charged;
  }

 private:
  const Request& request_;
  const Usage& delta_;
};

class ResourceQuota final : public Plugin {
 public:
  explicit ResourceQuota(const Objects& objects) : objects_(objects) {}

  std::string_view name() const override { return "ResourceQuota"; }
  bool Handles(const Request& request) const override {
    if (request.ns.empty() || request.IsFor("", "namespaces") || !ChangesUsage(request)) {
      return false;
    }
    return !objects_.KnownToBeNone("", "resourcequotas", request.ns);
  }

  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    auto quotas = co_await objects_.List("", "resourcequotas", std::string(request.ns));
    if (!quotas) co_return std::unexpected(std::move(quotas).error());
    std::vector<std::pair<std::string, Usage>> charges;
    for (const auto& quota : *quotas) {
      auto delta = Assess(request, quota.root());
      if (!delta) co_return std::unexpected(std::move(delta).error());
      if (delta->empty()) continue;
      charges.emplace_back(quota.root()["metadata"]["name"].AsString(), *std::move(delta));
    }
    auto* store = objects_.Store("", "resourcequotas");
    const auto& info = *api::kCatalog.Find("", "v1")->FindResource("resourcequotas");
    for (const auto& [quota, delta] : charges) {
      Charge charge(info, request, delta);
      auto stored = co_await store->Modify(std::string(request.ns), quota, {}, charge);
      if (!stored) co_return std::unexpected(std::move(stored).error());
    }
    co_return ApiResult<void>();
  }

 private:
  // What the request costs this quota; nothing when it is not concerned.
  static ApiResult<Usage> Assess(const Request& request, const Value& quota) {
    const Value hard = quota["status"]["hard"];
    const auto name = quota["metadata"]["name"].AsString();
    const auto counted = CountedNames(request, hard);
    if (counted.empty() || !InScope(request, request.object, quota)) return Usage();
    if (auto why = MissingAmounts(request, request.object, counted); !why.empty()) {
      return Forbid(request, fmt::format("failed quota: {}: {}", name, why));
    }
    const bool known = std::ranges::all_of(counted, [&](std::string_view counted_name) {
      return quota["status"]["used"].Find(counted_name) != nullptr;
    });
    if (!known) {
      return Forbid(request, fmt::format("status unknown for quota: {}, resources: {}", name,
                                         fmt::join(counted, ",")));
    }
    Usage delta = UsageOf(request, request.object);
    if (auto why = Negative(delta); !why.empty()) return Forbid(request, why);
    if (request.operation == Operation::kUpdate && InScope(request, request.old_object, quota)) {
      for (const auto& [resource, amount] : UsageOf(request, request.old_object)) {
        if (auto found = delta.find(resource); found != delta.end()) found->second.Sub(amount);
      }
    }
    std::erase_if(delta, [&](const auto& entry) {
      return entry.second.Sign() <= 0 || !hard.Find(entry.first);
    });
    if (auto why = Exceeded(quota, delta); !why.empty()) return Forbid(request, why);
    return delta;
  }

  static std::string Negative(const Usage& usage) {
    std::vector<std::string_view> names;
    for (const auto& [name, amount] : usage) {
      if (amount.Sign() < 0) names.push_back(name);
    }
    if (names.empty()) return {};
    return fmt::format("quota usage is negative for resource(s): {}", fmt::join(names, ","));
  }

  const Objects& objects_;
};

}  // namespace

PluginPtr NewResourceQuota(const Objects& objects) {
  return std::make_unique<ResourceQuota>(objects);
}

}  // namespace keelson::kube::plugins
