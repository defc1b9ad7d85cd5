#pragma once

// Stored values of built-in kinds in the forms there are: ours (storage/object_record.h), and the
// two that kube-apiserver writes:
//
//   JSON      {"kind":"Pod","apiVersion":"v1",...} and a line feed
//   protobuf  the message in its envelope, "k8s\0" in front (schema/protobuf.h)
//
// All of them are read always; one is written. An object that another version of the kind was
// stored as is converted, and what has got a default since is filled in, as upstream does on
// reading.

#include <cstdint>
#include <optional>
#include <string_view>

#include "rest/object_image.h"
#include "schema/convert.h"
#include "schema/resource.h"
#include "schema/transform.h"
#include "storage/resource.h"
#include "value/document.h"

namespace keelson::rest {

enum class StoredForm : uint8_t { kRecord, kJson, kProtobuf };

// From the media type of --storage-media-type; empty is our own form.
Result<StoredForm> ParseStoredForm(std::string_view media_type);

// Makes images of the two foreign forms. Any thread.
class StoredReader final : public storage::ImageReader {
 public:
  // Everything outlives the reader.
  StoredReader(const schema::Catalog& catalog, const schema::ResourceInfo& info,
               const schema::DefaultHooks& defaults, const ImageEncoder& encoder)
      : catalog_(catalog), info_(info), defaults_(defaults), encoder_(encoder) {}

  Result<storage::ObjectImage> Read(const Slice& value) const override;

 private:
  Result<value::Document> Decode(std::string_view value) const;

  const schema::Catalog& catalog_;
  const schema::ResourceInfo& info_;
  const schema::DefaultHooks& defaults_;
  const ImageEncoder& encoder_;
};

class StoredCodec final : public storage::ObjectCodec {
 public:
  StoredCodec(const schema::ResourceInfo& info, const ImageEncoder& encoder,
              const StoredReader& reader, StoredForm form)
      : info_(info), form_(form), records_(encoder.field_labels(), &reader) {}

  Result<storage::ObjectRef> Decode(const Slice& value, storage::Revision revision) const override {
    return records_.Decode(value, revision);
  }
  Result<Slice> Encode(const storage::ObjectImage& image) const override;
  std::optional<Slice> Restore(const storage::CachedObject& object) const override {
    return records_.Restore(object);
  }

 private:
  const schema::ResourceInfo& info_;
  const StoredForm form_;
  const storage::RecordCodec records_;
};

}  // namespace keelson::rest
