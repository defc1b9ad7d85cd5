#include "storage/resource.h"

#include <algorithm>

#include "storage/object_record.h"
#include "storage/resource_keys.h"

namespace keelson::storage {

RecordCodec::RecordCodec(const std::vector<std::string>& fields, const ImageReader* reader)
    : field_set_(
          ObjectRecord::FieldSet(std::vector<std::string_view>(fields.begin(), fields.end()))),
      reader_(reader) {}

Result<ObjectRef> RecordCodec::Decode(const Slice& value, Revision revision) const {
  Slice foreign = value;
  if (ObjectRecord::IsRecord(value.view())) {
    auto object = ObjectRecord::Decode(value.view(), field_set_, revision);
    if (object || object.error().code != ErrorCode::kUnsupported || reader_ == nullptr)
      return object;
    // The facts are those of another list of fields: take them from the JSON again.
    TRY(auto json, ObjectRecord::Json(value.view()));
    foreign = value.Sub(static_cast<size_t>(json.data() - value.data()), json.size());
  } else if (reader_ == nullptr) {
    return Fail(ErrorCode::kCorrupt, "stored value is not an object record");
  }
  TRY(auto image, reader_->Read(foreign));
  return CachedObject::Create(image, revision);
}

Result<Slice> RecordCodec::Encode(const ObjectImage& image) const {
  return ObjectRecord::Encode(image, field_set_);
}

std::optional<Slice> RecordCodec::Restore(const CachedObject& object) const {
  if (!object.from_record()) return std::nullopt;
  return ObjectRecord::Restore(object, field_set_);
}

std::string ResourceOptions::KeyPrefix() const { return std::string(kRegistryRoot) + prefix + "/"; }

Predicate::Predicate(const ResourceOptions& resource, selector::LabelSelector labels,
                     const selector::FieldSelector& fields)
    : labels_(std::move(labels)) {
  for (const auto& term : fields.terms()) {
    int field = kUnknown;
    if (term.field == "metadata.name") {
      field = kName;
    } else if (term.field == "metadata.namespace") {
      field = kNamespace;
    } else if (auto found = std::ranges::find(resource.fields, term.field);
               found != resource.fields.end()) {
      field = static_cast<int>(found - resource.fields.begin());
    }
    terms_.push_back({field, term.equal, term.value});
  }
}

std::string_view Predicate::Value(const CachedObject& object, int field) {
  switch (field) {
    case kName:
      return object.name();
    case kNamespace:
      return object.ns();
    case kUnknown:
      return {};
    default:
      return object.field(static_cast<size_t>(field));
  }
}

}  // namespace keelson::storage
