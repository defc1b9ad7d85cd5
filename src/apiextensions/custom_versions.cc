#include "apiextensions/custom_versions.h"

#include <algorithm>
#include <utility>

#include "rest/decode_body.h"
#include "schema/transform.h"
#include "value/document.h"

namespace keelson::apiextensions {

using value::Document;

void CustomVersions::Add(const schema::ResourceInfo& info) {
  versions_.push_back({rest::ApiVersionText(info.group, info.version), &info});
}

const CustomVersions::Version* CustomVersions::Find(std::string_view api_version) const {
  const auto found = std::ranges::find(versions_, api_version, &Version::api_version);
  return found != versions_.end() ? &*found : nullptr;
}

const schema::Type* CustomVersions::TypeIn(std::string_view api_version) const {
  const auto* version = Find(api_version);
  return version != nullptr ? version->info->type : nullptr;
}

Result<Document> CustomVersions::Convert(const Document& object,
                                         std::string_view api_version) const {
  const auto from = object.root()["apiVersion"].AsString();
  if (from == api_version) return object;
  const auto* version = Find(api_version);
  if (version == nullptr) {
    return Fail(ErrorCode::kUnsupported, "request to convert CR to an invalid group/version: {}",
                api_version);
  }
  if (by_webhook_) {
    return Fail(ErrorCode::kUnsupported,
                "conversion webhook for {}, Kind={} failed: conversion by webhook is not supported",
                from, version->info->kind);
  }
  value::Builder builder(object);
  builder.root().SetField("apiVersion", builder.String(api_version));
  Document converted = std::move(builder).Finish();
  schema::Prune(*version->info->type, converted);
  schema::PruneNulls(*version->info->type, converted);
  return converted;
}

CustomProjection::CustomProjection(const CustomVersions& versions, const VersionRules& rules,
                                   const schema::ResourceInfo& shown,
                                   const schema::ResourceInfo& stored)
    : versions_(versions),
      rules_(rules),
      shown_(shown),
      stored_(stored),
      shown_version_(rest::ApiVersionText(shown.group, shown.version)),
      stored_version_(rest::ApiVersionText(stored.group, stored.version)) {}

ApiResult<Document> CustomProjection::Show(const Document& stored) const {
  auto converted = versions_.Convert(stored, shown_version_);
  if (!converted) return std::unexpected(InternalErrorStatus(converted.error().message));
  return *std::move(converted);
}

ApiResult<Document> CustomProjection::Put(const Document& shown, const Document* stored) const {
  if (&shown_ == &stored_) return shown;
  Document before;
  if (stored != nullptr) {
    auto old = Show(*stored);
    if (!old) return old;
    before = *std::move(old);
  }
  const auto errors = rules_.Check(shown.root(), stored != nullptr ? &before.root() : nullptr);
  if (!errors.empty()) {
    return std::unexpected(schema::InvalidStatus(shown_.group, shown.root()["kind"].AsString(),
                                                 shown.root()["metadata"]["name"].AsString(),
                                                 errors));
  }
  auto converted = versions_.Convert(shown, stored_version_);
  if (!converted) return std::unexpected(InternalErrorStatus(converted.error().message));
  schema::ApplyDefaults(*stored_.type, *converted);
  return *std::move(converted);
}

}  // namespace keelson::apiextensions
