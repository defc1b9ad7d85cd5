#include "apiextensions/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/apiextensions_v1.h"
#include "api/autoscaling_v1.h"
#include "api/meta_v1.h"
#include "apiextensions/version_order.h"
#include "crypto/digest.h"
#include "rest/decode_body.h"
#include "schema/validate.h"
#include "storage/resource_keys.h"
#include "value/json.h"

namespace keelson::apiextensions {
namespace {

using api::apiextensions_v1::CustomResourceDefinition;
using api::apiextensions_v1::CustomResourceDefinitionSpec;
using value::Value;

// Lists are put together from the bytes of their items; nothing needs their type.
constexpr schema::Type kList{.kind = schema::TypeKind::kAny};

std::vector<std::string> Steps(std::string_view path) {
  std::vector<std::string> steps;
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto end = std::min(path.find('.'), path.size());
    steps.emplace_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return steps;
}

// What users of a deprecated version are told when its author did not say.
std::string DeprecationOf(const CustomResourceDefinitionSpec& spec, std::string_view version) {
  auto text = fmt::format("{}/{} {} is deprecated", spec.group(), version, spec.names().kind());
  std::string_view better;
  for (const auto& other : spec.versions()) {
    if (!other.served() || other.deprecated() || !IsPreferredVersion(other.name(), version)) {
      continue;
    }
    if (better.empty() || IsPreferredVersion(other.name(), better)) better = other.name();
  }
  if (better.empty()) return text;
  return text + fmt::format("; use {}/{} {}", spec.group(), better, spec.names().kind());
}

}  // namespace

struct Serving::Version {
  bool served = false;
  schema::CrdType compiled;
  schema::ResourceInfo info;
  VersionRules rules;
  std::string deprecation;
  std::vector<schema::Subresource> subresources;
  std::vector<schema::SelectableField> selectable;
  std::vector<schema::TableColumn> columns;
  std::vector<std::unique_ptr<const value::JsonPath>> paths;
  std::vector<rest::Cell> cells;
  rest::TablePrinter printer;
  std::unique_ptr<const CustomStrategy> strategy;
  std::unique_ptr<const CustomStatusStrategy> status;
  std::unique_ptr<const CustomProjection> projection;
  std::unique_ptr<const rest::ScaleProjection> scale;
  std::vector<std::unique_ptr<const rest::ResourceHandler>> handlers;
};

Serving::Serving(const CustomKind& kind, const KindParts& parts, bool by_webhook)
    : kind_(kind), parts_(parts), arena_(value::Arena::Make(1024)), converter_(by_webhook) {}

Serving::~Serving() = default;

Result<std::unique_ptr<const Serving>> Serving::Create(const CustomKind& kind,
                                                       const KindParts& parts) {
  TRY(const auto definition, value::ParseJson(kind.definition().json_view()));
  const Value root = definition.root();
  const CustomResourceDefinition from(root);
  std::unique_ptr<Serving> serving(
      new Serving(kind, parts, from.spec().conversion().strategy() == "Webhook"));
  for (const auto& version : from.spec().versions()) {
    if (version.served() || version.storage()) {
      TRY_VOID(serving->AddVersion(root, version.value()));
    }
  }
  if (serving->stored_ == nullptr) return Fail(ErrorCode::kInvalid, "no version is stored");
  serving->OpenStore(root);
  for (const auto& version : serving->versions_) {
    // Objects are judged by the rules of the version they are written in.
    const bool is_stored = version.get() == serving->stored_;
    version->strategy =
        std::make_unique<const CustomStrategy>(kind, is_stored ? &version->rules : nullptr);
  }
  for (const auto& version : serving->versions_) serving->Serve(*version);
  return serving;
}

Result<void> Serving::AddVersion(const Value& definition, const Value& from) {
  const CustomResourceDefinition whole(definition);
  const api::apiextensions_v1::CustomResourceDefinitionVersion version(from);
  auto made = std::make_unique<Version>();
  const auto* shown = kind_.FindVersion(version.name());
  made->served = shown != nullptr;
  if (shown != nullptr) {
    made->info = *shown;
  } else {
    made->info = kind_.versions().empty() ? schema::ResourceInfo() : kind_.versions().front();
    made->info.group = kind_.group();
    made->info.plural = kind_.plural();
    made->info.version = arena_->CopyString(version.name());
    made->info.kind = arena_->CopyString(whole.spec().names().kind());
    made->info.subresources = {};
  }
  TRY(made->compiled, schema::BuildCrdType(from["schema"]["openAPIV3Schema"],
                                           {.object_meta = &api::meta_v1::ObjectMeta::Schema()}));
  auto& info = made->info;
  info.type = made->compiled.type;
  info.list_type = &kList;
  made->selectable.push_back({.label = "metadata.name"});
  if (kind_.namespaced()) made->selectable.push_back({.label = "metadata.namespace"});
  for (const auto& field : version.selectableFields()) {
    made->selectable.push_back({.label = arena_->CopyString(field.jsonPath().substr(1))});
  }
  info.selectable_fields = made->selectable;
  made->rules = {.type = info.type,
                 .kind = std::string(info.kind),
                 .api_version = rest::ApiVersionText(info.group, info.version),
                 .has_cel_rules = schema::HasCelRules(*info.type)};
  const auto scale = version.subresources().scale();
  if (scale) {
    made->rules.scale =
        ScaleRules{std::string(scale.specReplicasPath()), std::string(scale.statusReplicasPath()),
                   std::string(scale.labelSelectorPath().value_or(""))};
  }
  made->subresources.assign(info.subresources.begin(), info.subresources.end());
  for (auto& subresource : made->subresources) {
    if (subresource.name == "status") subresource.type = info.type;
  }
  info.subresources = made->subresources;
  if (version.deprecated()) {
    const auto said = version.deprecationWarning();
    made->deprecation = said ? std::string(*said) : DeprecationOf(whole.spec(), version.name());
  }
  AddColumns(from["additionalPrinterColumns"], *made);
  if (version.storage()) stored_ = made.get();
  versions_.push_back(std::move(made));
  converter_.Add(versions_.back()->info);
  return {};
}

void Serving::AddColumns(const Value& columns, Version& to) {
  const auto add = [&](std::string_view text, schema::TableColumn column) {
    auto path = value::JsonPath::Parse(text);
    if (!path) return false;
    column.type = arena_->CopyString(column.type);
    const auto reads = arena_->CopyString(path->Prefix());
    to.paths.push_back(std::make_unique<const value::JsonPath>(*std::move(path)));
    to.cells.push_back(rest::ColumnCell(*to.paths.back(), reads, column.type));
    column.name = arena_->CopyString(column.name);
    column.format = arena_->CopyString(column.format);
    column.description = arena_->CopyString(column.description);
    to.columns.push_back(column);
    return true;
  };
  to.columns.push_back(
      {.name = "Name", .type = "string", .format = "name", .path = "metadata.name"});
  to.cells.push_back(rest::kNameCell);
  if (columns.size() == 0) {
    add(".metadata.creationTimestamp",
        {.name = "Age", .type = "date", .path = "metadata.creationTimestamp"});
  }
  for (const Value& item : columns.items()) {
    const api::apiextensions_v1::CustomResourceColumnDefinition column(item);
    const std::string fallback = fmt::format(
        "Custom resource definition column (in JSONPath format): {}", column.jsonPath());
    // Upstream shows the columns up to the first that it does not understand.
    const bool understood =
        add(column.jsonPath(),
            {.name = column.name(),
             .type = column.type(),
             .format = column.format(),
             .description = column.description().empty() ? fallback : column.description(),
             .priority = column.priority()});
    if (!understood) break;
  }
  to.info.columns = to.columns;
  to.printer = {.group = to.info.group, .resource = to.info.plural, .cells = to.cells};
}

void Serving::OpenStore(const Value& definition) {
  store_info_ = stored_->info;
  for (const auto& version : versions_) {
    for (const auto& field : version->selectable) {
      const auto same = [&](const auto& there) { return there.label == field.label; };
      if (std::ranges::none_of(store_fields_, same)) store_fields_.push_back(field);
    }
  }
  store_info_.selectable_fields = store_fields_;
  encoder_ = std::make_unique<const rest::ImageEncoder>(store_info_, /*list_items_keep_type=*/true);
  reader_ = std::make_unique<const CustomReader>(stored_->info, *encoder_);
  // All that decides how stored bytes are read.
  std::string schema(stored_->info.version);
  const Value versions = definition["spec"]["versions"];
  for (const Value& version : versions.items()) {
    if (version["storage"].AsBool()) value::AppendJson(schema, version["schema"]);
  }
  codec_ = std::make_unique<const CustomCodec>(
      *encoder_, *reader_, parts_.form,
      crypto::HexEncode(crypto::Digest(crypto::Hash::kSha256, schema)));
  auto options = std::make_shared<storage::ResourceOptions>();
  options->resource = {std::string(kind_.group()), std::string(kind_.plural())};
  options->prefix = storage::ResourcePrefix(options->resource, /*built_in=*/false);
  options->namespaced = kind_.namespaced();
  options->fields = encoder_->field_labels();
  options->bookmark_before = fmt::format(R"({{"apiVersion":"{}","kind":"{}","metadata":{{)",
                                         stored_->rules.api_version, stored_->info.kind);
  options->codec = codec_.get();
  if (parts_.transformer) options->transformer = parts_.transformer(options->resource);
  store_ = std::make_unique<storage::ObjectStore>(std::move(options), &parts_.store, &parts_.feed,
                                                  &parts_.clock);
}

void Serving::Serve(Version& version) {
  const bool is_stored = &version == stored_;
  if (versions_.size() > 1) {
    version.projection = std::make_unique<const CustomProjection>(converter_, version.rules,
                                                                  version.info, stored_->info);
  }
  rest::ResourceSpec spec{.catalog = &parts_.catalog,
                          .info = &version.info,
                          .strategy = version.strategy.get(),
                          .defaults = &no_hooks_,
                          .printer = &version.printer,
                          .encoder = encoder_.get(),
                          .store = store_.get(),
                          .clock = &parts_.clock,
                          .custom = true,
                          .stored_as_json = true,
                          .admission = parts_.admission,
                          .authorizer = parts_.authorizer,
                          .stored = &stored_->info,
                          .projection = version.projection.get(),
                          .deprecation = version.deprecation};
  if (!version.served) {
    if (is_stored) {
      unserved_spec_ = rest::Completed(spec);
      stored_spec_ = &unserved_spec_;
    }
    return;
  }
  version.handlers.push_back(std::make_unique<const rest::ResourceHandler>(spec));
  if (is_stored) stored_spec_ = &version.handlers.back()->spec();
  for (const auto& subresource : version.subresources) {
    auto part = spec;
    part.subresource = &subresource;
    if (subresource.name == "status") {
      version.status = std::make_unique<const CustomStatusStrategy>(*version.strategy);
      part.strategy = version.status.get();
    } else {
      const auto& paths = *version.rules.scale;
      version.scale = std::make_unique<const rest::ScaleProjection>(
          version.info, api::autoscaling_v1::Scale::Schema(),
          rest::ScalePaths{Steps(paths.spec_replicas), Steps(paths.status_replicas),
                           Steps(paths.selector)});
      part.projection = version.scale.get();
      part.strategy = stored_->strategy.get();
    }
    version.handlers.push_back(std::make_unique<const rest::ResourceHandler>(std::move(part)));
  }
}

const rest::ResourceHandler* Serving::Find(std::string_view version,
                                           std::string_view subresource) const {
  for (const auto& one : versions_) {
    if (one->info.version != version) continue;
    for (const auto& handler : one->handlers) {
      const auto* shown = handler->spec().subresource;
      if ((shown != nullptr ? shown->name : "") == subresource) return handler.get();
    }
  }
  return nullptr;
}

}  // namespace keelson::apiextensions
