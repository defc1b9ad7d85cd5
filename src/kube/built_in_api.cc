#include "kube/built_in_api.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "kube/access/rbac_kinds.h"
#include "storage/resource_keys.h"

namespace keelson::kube {
namespace {

// Selectable fields by which controllers list and watch all the time.
constexpr std::string_view kIndexed[] = {"spec.nodeName"};

// What is stored and served by itself. Kinds that live only for one request (reviews, bindings)
// and those that are another version's objects have no store of their own.
bool IsStored(const schema::ResourceInfo& info) {
  return (info.verbs & schema::kVerbList) != 0 && (info.verbs & schema::kVerbCreate) != 0 &&
         info.list_type != nullptr && info.hub.kind.empty();
}

std::string BookmarkStart(const schema::ResourceInfo& info) {
  std::string version(info.version);
  if (!info.group.empty()) version = std::string(info.group) + "/" + version;
  return R"({"kind":")" + std::string(info.kind) + R"(","apiVersion":")" + version +
         R"(","metadata":{)";
}

}  // namespace

struct BuiltInApi::Served {
  explicit Served(const schema::ResourceInfo& resource)
      : info(resource),
        encoder(resource, /*list_items_keep_type=*/false),
        codec(encoder.field_labels()) {}

  const schema::ResourceInfo& info;
  rest::ImageEncoder encoder;
  storage::RecordCodec codec;
  std::unique_ptr<storage::ObjectStore> objects;
  std::unique_ptr<rest::ResourceHandler> handler;
};

BuiltInApi::BuiltInApi(const schema::Catalog& catalog, kv::Store& store, storage::CacheFeed& feed,
                       Clock& clock)
    : catalog_(catalog), store_(store), feed_(feed), clock_(clock), defaults_(access::Defaults()) {
  for (const auto& version : catalog.group_versions()) {
    if (!version.served) continue;
    for (const auto& info : version.resources) {
      if (IsStored(info)) AddResource(info);
    }
  }
}

BuiltInApi::~BuiltInApi() = default;

const rest::Strategy* BuiltInApi::StrategyOf(const schema::ResourceInfo& info) const {
  const auto* strategy = access::FindStrategy(info.group, info.plural);
  return strategy != nullptr ? strategy : &plain_;
}

void BuiltInApi::AddResource(const schema::ResourceInfo& info) {
  auto served = std::make_unique<Served>(info);
  const GroupResource resource{std::string(info.group), std::string(info.plural)};
  auto options = std::make_shared<storage::ResourceOptions>();
  options->resource = resource;
  options->prefix = storage::ResourcePrefix(resource, /*built_in=*/true);
  options->namespaced = info.scope == schema::Scope::kNamespaced;
  options->fields = served->encoder.field_labels();
  for (size_t i = 0; i < options->fields.size(); ++i) {
    if (std::ranges::find(kIndexed, options->fields[i]) != std::end(kIndexed)) {
      options->indexed_fields.push_back(static_cast<int>(i));
    }
  }
  options->bookmark_before = BookmarkStart(info);
  options->codec = &served->codec;
  served->objects =
      std::make_unique<storage::ObjectStore>(std::move(options), &store_, &feed_, &clock_);
  served->handler =
      std::make_unique<rest::ResourceHandler>(rest::ResourceSpec{.catalog = &catalog_,
                                                                 .info = &served->info,
                                                                 .strategy = StrategyOf(info),
                                                                 .defaults = &defaults_,
                                                                 .encoder = &served->encoder,
                                                                 .store = served->objects.get(),
                                                                 .clock = &clock_});
  served_.push_back(std::move(served));
}

std::vector<rest::DiscoveryGroup> BuiltInApi::DiscoveryGroups() const {
  std::vector<const schema::GroupVersionInfo*> versions;
  for (const auto& version : catalog_.group_versions()) {
    if (version.served && !version.resources.empty()) versions.push_back(&version);
  }
  std::ranges::sort(versions, {}, [](const schema::GroupVersionInfo* version) {
    return std::tuple(-version->group_priority, version->group, -version->version_priority);
  });
  std::vector<rest::DiscoveryGroup> groups;
  for (const auto* version : versions) {
    if (groups.empty() || groups.back().name != version->group) {
      groups.push_back({std::string(version->group), {}});
    }
    rest::DiscoveryVersion shown{std::string(version->version), {}};
    for (const auto& info : version->resources) shown.resources.push_back(&info);
    groups.back().versions.push_back(std::move(shown));
  }
  return groups;
}

const rest::ResourceSpec* BuiltInApi::Find(std::string_view group, std::string_view plural) const {
  for (const auto& served : served_) {
    if (served->info.group == group && served->info.plural == plural) {
      return &served->handler->spec();
    }
  }
  return nullptr;
}

void BuiltInApi::Install(server::PathMux& mux) {
  std::vector<const rest::ResourceHandler*> handlers;
  for (const auto& served : served_) handlers.push_back(served->handler.get());
  auto endpoint = std::make_shared<server::ApiEndpoint>(catalog_, DiscoveryGroups(), handlers);
  for (auto& root : endpoint->roots()) mux.HandleService(root, endpoint);
}

}  // namespace keelson::kube
