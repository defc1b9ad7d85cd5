#include "rest/stored_value.h"

#include <string>
#include <utility>

#include "rest/stored_definition.h"
#include "schema/decode_json.h"
#include "schema/protobuf.h"
#include "storage/object_record.h"

namespace keelson::rest {
namespace {

using schema::kProtobufPrefix;

std::string ApiVersion(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

const schema::Type* FindKind(const schema::Catalog& catalog, std::string_view api_version,
                             std::string_view kind) {
  auto slash = api_version.find('/');
  auto group = slash == std::string_view::npos ? "" : api_version.substr(0, slash);
  const auto* found = catalog.Find(
      group, slash == std::string_view::npos ? api_version : api_version.substr(slash + 1));
  return found == nullptr ? nullptr : found->FindKind(kind);
}

// Versions that are served no more but still stored by upstream, whose fields and numbers are those
// of a later one.
struct SameFields {
  std::string_view stored;
  std::string_view kind;
  std::string_view as;
};
constexpr SameFields kSameFields[] = {
    {"admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicy",
     "admissionregistration.k8s.io/v1"},
    {"admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicyBinding",
     "admissionregistration.k8s.io/v1"},
};

std::string_view KnownAs(std::string_view api_version, std::string_view kind) {
  for (const auto& same : kSameFields) {
    if (same.stored == api_version && same.kind == kind) return same.as;
  }
  return api_version;
}

value::Document WithVersion(const value::Document& object, std::string_view api_version) {
  value::Builder builder(object);
  builder.root().SetField("apiVersion", builder.String(api_version));
  return std::move(builder).Finish();
}

}  // namespace

Result<StoredForm> ParseStoredForm(std::string_view media_type) {
  if (media_type.empty()) return StoredForm::kRecord;
  if (media_type == "application/json") return StoredForm::kJson;
  if (media_type == "application/vnd.kubernetes.protobuf") return StoredForm::kProtobuf;
  return Fail(ErrorCode::kInvalid,
              "--storage-media-type: \"{}\" is neither application/json nor "
              "application/vnd.kubernetes.protobuf",
              media_type);
}

Result<value::Document> StoredReader::Decode(std::string_view value) const {
  const bool protobuf = value.starts_with(kProtobufPrefix);
  std::string api_version, kind;
  if (protobuf) {
    TRY(auto envelope, schema::ReadProtobufEnvelope(value));
    api_version = envelope.api_version;
    kind = envelope.kind;
  } else {
    TRY(auto meta, schema::ReadTypeMeta(value));
    if (meta.api_version == kOldDefinitions && meta.kind == "CustomResourceDefinition") {
      TRY(auto restored, DefinitionFromV1beta1(value));
      return Decode(restored);
    }
    api_version = std::move(meta.api_version);
    kind = std::move(meta.kind);
  }
  const auto* type = FindKind(catalog_, api_version, kind);
  const auto known = type != nullptr ? std::string_view(api_version) : KnownAs(api_version, kind);
  if (type == nullptr) type = FindKind(catalog_, known, kind);
  if (type == nullptr) {
    return Fail(ErrorCode::kUnsupported, "stored as {} of {}, which is not known", kind,
                api_version);
  }
  value::Document object;
  if (protobuf) {
    TRY(object, schema::DecodeProtobufEnvelope(*type, value));
  } else {
    TRY(auto decoded, schema::DecodeJson(*type, value));
    object = std::move(decoded.object);
  }
  return known == api_version ? object : WithVersion(object, known);
}

Result<storage::ObjectImage> StoredReader::Read(const Slice& value) const {
  TRY(auto object, Decode(value.view()));
  auto wanted = ApiVersion(info_.group, info_.version);
  if (object.root()["apiVersion"].AsString() != wanted) {
    schema::TableConverter converter(catalog_, schema::BuiltInConversions());
    TRY(object, converter.ConvertNow(object, wanted));
  }
  if (object.root()["kind"].AsString() != info_.kind) {
    return Fail(ErrorCode::kCorrupt, "a {} is stored among the {}",
                object.root()["kind"].AsString(), info_.plural);
  }
  schema::ApplyDefaults(*info_.type, object, defaults_);
  if (object.root()["metadata"].Find("resourceVersion") == nullptr) {
    return encoder_.Encode(object.root());
  }
  value::Builder builder(object);
  builder.root().Field("metadata").RemoveField("resourceVersion");
  return encoder_.Encode(std::move(builder).Finish().root());
}

Result<Slice> StoredCodec::Encode(const storage::ObjectImage& image) const {
  auto json = image.json.view();
  switch (form_) {
    case StoredForm::kRecord:
      return records_.Encode(image);
    case StoredForm::kJson:
      return Slice::Make(json.size() + 1,
                         [&](char* out) { out[json.copy(out, json.size())] = '\n'; });
    case StoredForm::kProtobuf: {
      TRY(auto decoded, schema::DecodeJson(*info_.type, json));
      return Slice::Own(schema::EncodeProtobufEnvelope(*info_.type, decoded.object.root()));
    }
  }
  __builtin_unreachable();
}

}  // namespace keelson::rest
