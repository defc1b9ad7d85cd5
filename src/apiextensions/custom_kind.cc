#include "apiextensions/custom_kind.h"

#include <algorithm>
#include <utility>

#include "api/apiextensions_v1.h"
#include "api/autoscaling_v1.h"
#include "apiextensions/conditions.h"
#include "apiextensions/serving.h"
#include "apiextensions/version_order.h"
#include "crypto/base64.h"
#include "crypto/digest.h"
#include "rest/decode_body.h"

namespace keelson::apiextensions {
namespace {

using api::apiextensions_v1::CustomResourceDefinition;
using value::Value;

constexpr schema::VerbSet kAllVerbs =
    schema::kVerbCreate | schema::kVerbDelete | schema::kVerbDeleteCollection | schema::kVerbGet |
    schema::kVerbList | schema::kVerbPatch | schema::kVerbUpdate | schema::kVerbWatch;
constexpr schema::VerbSet kSubresourceVerbs =
    schema::kVerbGet | schema::kVerbPatch | schema::kVerbUpdate;

// Stands for the type of a kind that nobody has asked for yet.
constexpr schema::Type kUncompiled{.kind = schema::TypeKind::kAny};

// By which clients notice that another version is stored.
std::string StorageVersionHash(std::string_view group, std::string_view version,
                               std::string_view kind) {
  const auto digest = crypto::Digest(
      crypto::Hash::kSha256, fmt::format("{}/{}", rest::ApiVersionText(group, version), kind));
  return crypto::Base64Encode(std::string_view(digest).substr(0, 8));
}

}  // namespace

CustomKind::CustomKind(storage::ObjectRef definition, const Value& root, const KindParts& parts)
    : parts_(parts), definition_(std::move(definition)), arena_(value::Arena::Make(1024)) {
  const CustomResourceDefinition from(root);
  group_ = arena_->CopyString(from.spec().group());
  plural_ = arena_->CopyString(from.spec().names().plural());
  namespaced_ = from.spec().scope() == "Namespaced";
  established_ = IsConditionTrue(root, kEstablished);
  if (IsConditionTrue(root, kTerminating)) SetTerminating();
  for (const auto& version : from.spec().versions()) {
    if (version.served()) AddVersion(root, version.value());
  }
  std::ranges::sort(versions_, IsPreferredVersion, &schema::ResourceInfo::version);
}

CustomKind::~CustomKind() = default;

std::span<const std::string_view> CustomKind::Texts(const Value& list) {
  auto* texts = arena_->AllocateArray<std::string_view>(list.items().size());
  size_t count = 0;
  for (const Value& item : list.items()) {
    std::construct_at(&texts[count++], arena_->CopyString(item.AsString()));
  }
  return {texts, count};
}

void CustomKind::AddVersion(const Value& root, const Value& version) {
  const CustomResourceDefinition from(root);
  const api::apiextensions_v1::CustomResourceDefinitionVersion shown(version);
  // Discovery shows the names that were accepted, which need not be all that are asked for.
  const auto names = from.status().acceptedNames();
  const auto wanted = from.spec().names();
  schema::ResourceInfo info{
      .group = group_,
      .version = arena_->CopyString(shown.name()),
      .kind = arena_->CopyString(wanted.kind()),
      .list_kind = arena_->CopyString(wanted.listKind()),
      .plural = plural_,
      .singular = arena_->CopyString(names.singular()),
      .scope = namespaced_ ? schema::Scope::kNamespaced : schema::Scope::kCluster,
      .verbs = kAllVerbs,
      .type = &kUncompiled,
      .short_names = Texts(names.shortNames().value()),
      .categories = Texts(names.categories().value())};
  for (const auto& other : from.spec().versions()) {
    if (!other.storage() || !other.served()) continue;
    info.storage_version_hash =
        arena_->CopyString(StorageVersionHash(group_, other.name(), info.kind));
  }
  auto* subresources = arena_->AllocateArray<schema::Subresource>(2);
  size_t count = 0;
  const Value said = version["subresources"];
  if (!said["status"].is_null()) {
    std::construct_at(&subresources[count++],
                      schema::Subresource{.name = "status",
                                          .body = {group_, info.version, info.kind},
                                          .type = &kUncompiled,
                                          .verbs = kSubresourceVerbs});
  }
  if (!said["scale"].is_null()) {
    std::construct_at(&subresources[count++],
                      schema::Subresource{.name = "scale",
                                          .body = {"autoscaling", "v1", "Scale"},
                                          .type = &api::autoscaling_v1::Scale::Schema(),
                                          .verbs = kSubresourceVerbs});
  }
  info.subresources = {subresources, count};
  versions_.push_back(info);
}

const schema::ResourceInfo* CustomKind::FindVersion(std::string_view version) const {
  const auto found = std::ranges::find(versions_, version, &schema::ResourceInfo::version);
  return found != versions_.end() ? &*found : nullptr;
}

Result<const Serving*> CustomKind::Open() const {
  if (!opened_.load(std::memory_order_acquire)) {
    std::call_once(once_, [this] {
      auto serving = Serving::Create(*this, parts_);
      if (serving) {
        serving_ = *std::move(serving);
      } else {
        failure_ = std::move(serving).error();
      }
      opened_.store(true, std::memory_order_release);
    });
  }
  if (failure_) return std::unexpected(*failure_);
  return serving_.get();
}

Result<const rest::ResourceHandler*> CustomKind::Find(std::string_view version,
                                                      std::string_view subresource) const {
  TRY(const auto* serving, Open());
  return serving->Find(version, subresource);
}

Result<const rest::ResourceSpec*> CustomKind::Stored() const {
  TRY(const auto* serving, Open());
  return &serving->stored();
}

void CustomKind::Retire() const {
  if (opened_.load(std::memory_order_acquire) && serving_ != nullptr) serving_->EndWatches();
}

}  // namespace keelson::apiextensions
