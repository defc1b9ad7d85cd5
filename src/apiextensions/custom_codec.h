#pragma once

// Stored values of custom kinds: JSON, as upstream writes it, or our own records around it.
//
// A definition may change after its objects were stored. What it has got a default for since is
// filled in when they are read, and what it no longer knows is left out. So that this costs nothing
// as long as it does not change, records bear a stamp of the schema they were written under.

#include <string>
#include <string_view>

#include "rest/object_image.h"
#include "rest/stored_value.h"
#include "schema/resource.h"
#include "storage/resource.h"

namespace keelson::apiextensions {

// Makes images of plain JSON, in whatever version it was stored. Any thread.
class CustomReader final : public storage::ImageReader {
 public:
  // Both outlive the reader. `info` is the version that is stored now.
  CustomReader(const schema::ResourceInfo& info, const rest::ImageEncoder& encoder);
  Result<storage::ObjectImage> Read(const Slice& value) const override;

 private:
  const schema::ResourceInfo& info_;
  const rest::ImageEncoder& encoder_;
  const std::string api_version_;
};

class CustomCodec final : public storage::ObjectCodec {
 public:
  // `stamp` names the schema. The others outlive the codec.
  CustomCodec(const rest::ImageEncoder& encoder, const CustomReader& reader, rest::StoredForm form,
              std::string stamp);

  Result<storage::ObjectRef> Decode(const Slice& value, storage::Revision revision) const override {
    return records_.Decode(value, revision);
  }
  Result<Slice> Encode(const storage::ObjectImage& image) const override;

 private:
  const rest::StoredForm form_;
  const storage::RecordCodec records_;
};

}  // namespace keelson::apiextensions
