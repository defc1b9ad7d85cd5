#include "rest/versions.h"

#include <utility>

#include "rest/decode_body.h"
#include "schema/decode_json.h"
#include "value/json.h"

namespace keelson::rest {

using value::Document;

const schema::Type* KindVersions::TypeIn(std::string_view api_version) const {
  for (const auto* info : versions_) {
    if (ApiVersionText(info->group, info->version) == api_version) return info->type;
  }
  return nullptr;
}

Result<Document> KindVersions::Convert(const Document& object, std::string_view api_version) const {
  return converter_.ConvertNow(object, api_version);
}

VersionProjection::VersionProjection(const KindVersions& versions,
                                     const schema::ResourceInfo& shown,
                                     const schema::ResourceInfo& stored)
    : versions_(versions),
      shown_(shown),
      shown_version_(ApiVersionText(shown.group, shown.version)),
      stored_version_(ApiVersionText(stored.group, stored.version)) {}

ApiResult<Document> VersionProjection::Show(const Document& stored) const {
  auto converted = versions_.Convert(stored, shown_version_);
  if (!converted) return std::unexpected(InternalErrorStatus(converted.error().message));
  return *std::move(converted);
}

ApiResult<Document> VersionProjection::Put(const Document& shown, const Document*) const {
  auto converted = versions_.Convert(shown, stored_version_);
  if (!converted) return std::unexpected(InternalErrorStatus(converted.error().message));
  return *std::move(converted);
}

ApiResult<Slice> Shown(const ResourceSpec& spec, const Slice& json) {
  if (spec.projection == nullptr) return json;
  auto stored = schema::DecodeJson(spec.stored_type(), json.view());
  if (!stored) return std::unexpected(InternalErrorStatus(stored.error().message));
  auto shown = spec.projection->Show(stored->object);
  if (!shown) return std::unexpected(std::move(shown).error());
  return value::ToJsonSlice(shown->root());
}

}  // namespace keelson::rest
