#include "kube/built_in_api.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "kube/metadata_checks.h"
#include "kube/print/printers.h"
#include "kube/stored_kinds.h"
#include "rest/decode_body.h"
#include "rest/scale.h"
#include "rest/status_strategy.h"
#include "rest/versions.h"
#include "storage/resource_keys.h"

namespace keelson::kube {
namespace {

// Selectable fields by which controllers list and watch all the time.
constexpr std::string_view kIndexed[] = {"spec.nodeName"};

// Versions of kinds that clients should leave.
struct Deprecation {
  std::string_view group;
  std::string_view resource;
  std::string_view warning;
};
constexpr Deprecation kDeprecated[] = {
    {"", "componentstatuses", "v1 ComponentStatus is deprecated in v1.19+"},
    {"", "endpoints",
     "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"},
};

std::string_view DeprecationOf(const schema::ResourceInfo& info) {
  for (const auto& [group, resource, warning] : kDeprecated) {
    if (info.group == group && info.plural == resource) return warning;
  }
  return {};
}

// Kinds that refuse unknown field labels in words of their own.
struct FieldRefusal {
  std::string_view group;
  std::string_view resource;
  std::string_view text;
};
constexpr FieldRefusal kFieldRefusals[] = {
    {"batch", "jobs", "field label %q not supported for Job"},
    {"resource.k8s.io", "resourceslices",
     "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s"},
};

std::string_view FieldRefusalOf(const schema::ResourceInfo& info) {
  for (const auto& [group, resource, text] : kFieldRefusals) {
    if (info.group == group && info.plural == resource) return text;
  }
  return {};
}

// Groups whose servers upstream tells to store JSON.
bool IsStoredAsJson(const schema::ResourceInfo& info) {
  return info.group == "apiextensions.k8s.io" || info.group == "apiregistration.k8s.io";
}

std::string BookmarkStart(const schema::ResourceInfo& info) {
  std::string version(info.version);
  if (!info.group.empty()) version = std::string(info.group) + "/" + version;
  return R"({"kind":")" + std::string(info.kind) + R"(","apiVersion":")" + version +
         R"(","metadata":{)";
}

}  // namespace

// The objects of one kind, whatever versions show them.
struct BuiltInApi::Stored {
  Stored(const ApiParts& parts, const schema::ResourceInfo& resource,
         const schema::DefaultHooks& defaults)
      : info(resource),
        encoder(resource, /*list_items_keep_type=*/false),
        reader(parts.catalog, resource, defaults, encoder),
        codec(resource, encoder, reader, parts.form) {}

  const schema::ResourceInfo& info;
  const rest::ImageEncoder encoder;
  const rest::StoredReader reader;
  const rest::StoredCodec codec;
  std::unique_ptr<storage::ObjectStore> objects;
  // Of kinds with several versions.
  std::unique_ptr<const rest::KindVersions> versions;
};

struct BuiltInApi::Served {
  explicit Served(rest::ResourceSpec spec) : handler(std::move(spec)) {}
  const rest::ResourceHandler handler;
};

BuiltInApi::BuiltInApi(ApiParts parts)
    : parts_(std::move(parts)),
      defaults_(parts_.kinds.Defaults()),
      converter_(parts_.catalog, schema::BuiltInConversions()) {
  for (const auto& version : parts_.catalog.group_versions()) {
    for (const auto& info : version.resources) {
      if (version.served && IsStored(info)) AddStored(info);
    }
  }
  for (const auto& version : parts_.catalog.group_versions()) {
    for (const auto& info : version.resources) {
      if (version.served) AddResource(info);
    }
  }
}

BuiltInApi::~BuiltInApi() = default;

void BuiltInApi::AddStored(const schema::ResourceInfo& info) {
  auto stored = std::make_unique<Stored>(parts_, info, defaults_);
  const GroupResource resource{std::string(info.group), std::string(info.plural)};
  auto options = std::make_shared<storage::ResourceOptions>();
  options->resource = resource;
  options->prefix = storage::ResourcePrefix(resource, /*built_in=*/true);
  options->namespaced = info.scope == schema::Scope::kNamespaced;
  options->fields = stored->encoder.field_labels();
  for (size_t i = 0; i < options->fields.size(); ++i) {
    if (std::ranges::find(kIndexed, options->fields[i]) != std::end(kIndexed)) {
      options->indexed_fields.push_back(static_cast<int>(i));
    }
  }
  options->bookmark_before = BookmarkStart(info);
  options->cached_upstream = info.plural != "events";
  options->codec = &stored->codec;
  if (parts_.transformer) options->transformer = parts_.transformer(resource);
  stored->objects = std::make_unique<storage::ObjectStore>(std::move(options), &parts_.store,
                                                           &parts_.feed, &parts_.clock);
  std::vector<const schema::ResourceInfo*> versions{&info};
  for (const auto& version : parts_.catalog.group_versions()) {
    for (const auto& other : version.resources) {
      if (version.served &&
          other.hub == schema::GroupVersionKind{info.group, info.version, info.kind}) {
        versions.push_back(&other);
      }
    }
  }
  if (versions.size() > 1) {
    stored->versions = std::make_unique<rest::KindVersions>(converter_, std::move(versions));
  }
  stores_[{info.plural, info.group}] = stored->objects.get();
  stored_.push_back(std::move(stored));
}

// Where the objects of this resource are kept; null when they are not.
BuiltInApi::Stored* BuiltInApi::StoredAs(const schema::ResourceInfo& info) {
  for (const auto& stored : stored_) {
    const auto& kept = stored->info;
    if (&kept == &info ||
        info.hub == schema::GroupVersionKind{kept.group, kept.version, kept.kind}) {
      return stored.get();
    }
  }
  return nullptr;
}

void BuiltInApi::AddResource(const schema::ResourceInfo& info) {
  auto* stored = StoredAs(info);
  const auto& kept = stored != nullptr ? stored->info : info;
  // A group that shows another group's objects may have rules of its own for them.
  const auto* strategy = parts_.kinds.FindStrategy(info.group, info.plural);
  if (strategy == nullptr) strategy = parts_.kinds.FindStrategy(kept.group, kept.plural);
  const auto* own = parts_.kinds.FindSubresource(info.group, info.plural, "");
  rest::ResourceSpec spec{.catalog = &parts_.catalog,
                          .info = &info,
                          .strategy = strategy != nullptr ? strategy : &plain_,
                          .defaults = &defaults_,
                          .printer = print::FindPrinter(kept.group, kept.plural),
                          .forms = &forms_,
                          .clock = &parts_.clock,
                          .stored_as_json = IsStoredAsJson(info),
                          .admission = parts_.admission,
                          .authorizer = parts_.authorizer,
                          .stores = this,
                          .handler = own != nullptr ? own->handler : nullptr,
                          .computed = parts_.kinds.FindComputed(info.group, info.plural),
                          .deprecation = DeprecationOf(info),
                          .metadata_checks = MetadataChecksOf(info),
                          .allow_privileged = parts_.allow_privileged,
                          .field_refusal = FieldRefusalOf(info)};
  if (stored != nullptr) {
    spec.encoder = &stored->encoder;
    spec.store = stored->objects.get();
    spec.stored = &stored->info;
    if (stored->versions != nullptr) {
      projections_.push_back(
          std::make_unique<rest::VersionProjection>(*stored->versions, info, stored->info));
      spec.projection = projections_.back().get();
    }
  } else if (spec.handler == nullptr && spec.computed == nullptr) {
    return;  // nobody knows how to answer for it
  }
  Serve(spec);
  for (const auto& subresource : info.subresources) AddSubresource(spec, subresource);
}

void BuiltInApi::AddSubresource(const rest::ResourceSpec& resource,
                                const schema::Subresource& subresource) {
  auto spec = resource;
  spec.subresource = &subresource;
  spec.handler = nullptr;
  const auto& info = *resource.info;
  const auto* code = parts_.kinds.FindSubresource(info.group, info.plural, subresource.name);
  if (code != nullptr && code->handler != nullptr) {
    spec.handler = code->handler;
    spec.projection = nullptr;
  } else if (code != nullptr) {
    spec.strategy = code->strategy;
  } else if (subresource.name == "status") {
    status_strategies_.push_back(
        std::make_unique<rest::StatusStrategy>(*resource.strategy, *resource.stored));
    spec.strategy = status_strategies_.back().get();
  } else if (subresource.name == "scale") {
    projections_.push_back(std::make_unique<rest::ScaleProjection>(info, *subresource.type));
    spec.projection = projections_.back().get();
  } else {
    return;  // nobody knows how to answer for it
  }
  Serve(std::move(spec));
}

void BuiltInApi::Serve(rest::ResourceSpec spec) {
  served_.push_back(std::make_unique<Served>(std::move(spec)));
}

storage::ObjectStore* BuiltInApi::FindStore(std::string_view group,
                                            std::string_view resource) const {
  const auto found = stores_.find({resource, group});
  return found == stores_.end() ? nullptr : found->second;
}

const rest::ResourceSpec* BuiltInApi::Find(std::string_view group, std::string_view plural,
                                           std::string_view subresource) const {
  for (const auto& served : served_) {
    const auto& spec = served->handler.spec();
    const auto part = spec.subresource != nullptr ? spec.subresource->name : std::string_view();
    if (part == subresource && spec.stored == spec.info && spec.info->group == group &&
        spec.info->plural == plural) {
      return &spec;
    }
  }
  return nullptr;
}

std::vector<rest::DiscoveryGroup> BuiltInApi::DiscoveryGroups() const {
  std::vector<const schema::GroupVersionInfo*> versions;
  for (const auto& version : parts_.catalog.group_versions()) {
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

void BuiltInApi::Install(server::PathMux& mux, const Beside& beside) {
  std::vector<const rest::ResourceHandler*> handlers;
  for (const auto& served : served_) handlers.push_back(&served->handler);
  auto groups = DiscoveryGroups();
  auto endpoint = std::make_shared<server::ApiEndpoint>(parts_.catalog, groups, handlers);
  for (auto& root : endpoint->roots()) mux.HandleService(root, endpoint);
  if (!beside.discovery) return;
  std::erase_if(groups, [](const rest::DiscoveryGroup& group) { return group.name.empty(); });
  mux.HandleService("/apis", std::make_shared<server::GroupListEndpoint>(
                                 parts_.catalog, std::move(groups), beside.groups));
}

}  // namespace keelson::kube
