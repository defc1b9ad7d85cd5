#include "apiextensions/custom_codec.h"

#include <utility>
#include <vector>

#include "rest/decode_body.h"
#include "schema/decode_json.h"
#include "schema/transform.h"
#include "value/document.h"

namespace keelson::apiextensions {
namespace {

std::vector<std::string> Stamped(std::vector<std::string> fields, std::string stamp) {
  fields.push_back(std::move(stamp));
  return fields;
}

}  // namespace

CustomReader::CustomReader(const schema::ResourceInfo& info, const rest::ImageEncoder& encoder)
    : info_(info),
      encoder_(encoder),
      api_version_(rest::ApiVersionText(info.group, info.version)) {}

Result<storage::ObjectImage> CustomReader::Read(const Slice& value) const {
  TRY(auto decoded, schema::DecodeJson(*info_.type, value.view()));
  if (decoded.object.root()["kind"].AsString() != info_.kind) {
    return Fail(ErrorCode::kCorrupt, "a {} is stored among the {}",
                decoded.object.root()["kind"].AsString(), info_.plural);
  }
  value::Builder builder(decoded.object);
  builder.root().SetField("apiVersion", value::Value::String(api_version_, /*plain=*/true));
  value::Ref metadata = builder.root().Field("metadata");
  metadata.RemoveField("resourceVersion");
  // Objects from before there were generations.
  if (metadata.Get()["generation"].AsInt() == 0) {
    metadata.SetField("generation", value::Value::Int(1));
  }
  value::Document object = std::move(builder).Finish();
  schema::ApplyDefaults(*info_.type, object);
  schema::Normalize(*info_.type, object);
  return encoder_.Encode(object.root());
}

CustomCodec::CustomCodec(const rest::ImageEncoder& encoder, const CustomReader& reader,
                         rest::StoredForm form, std::string stamp)
    : form_(form), records_(Stamped(encoder.field_labels(), std::move(stamp)), &reader) {}

Result<Slice> CustomCodec::Encode(const storage::ObjectImage& image) const {
  if (form_ == rest::StoredForm::kRecord) return records_.Encode(image);
  const auto json = image.json.view();
  return Slice::Make(json.size() + 1, [&](char* out) { out[json.copy(out, json.size())] = '\n'; });
}

}  // namespace keelson::apiextensions
