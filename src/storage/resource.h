#pragma once

// What storage has to be told about a resource. It knows no schema: objects come in and go out as
// finished bytes, and a codec per resource makes cached objects of stored values.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "storage/cached_object.h"
#include "storage/list_options.h"

namespace keelson::storage {

// Between an object and the bytes that stand in the store, before encryption. Called from any
// thread.
class ObjectCodec {
 public:
  virtual ~ObjectCodec() = default;
  virtual Result<ObjectRef> Decode(const Slice& value, Revision revision) const = 0;
  virtual Result<Slice> Encode(const ObjectImage& image) const = 0;
  // The value that the object was decoded from, byte for byte; nullopt when that cannot be told.
  virtual std::optional<Slice> Restore(const CachedObject&) const { return std::nullopt; }
};

// Makes an image of a value that is not an ObjectRecord: plain JSON, upstream's protobuf envelope.
class ImageReader {
 public:
  virtual ~ImageReader() = default;
  virtual Result<ObjectImage> Read(const Slice& value) const = 0;
};

// Writes ObjectRecords. Reads them, and whatever `reader` understands (nullptr: nothing else).
class RecordCodec final : public ObjectCodec {
 public:
  explicit RecordCodec(const std::vector<std::string>& fields, const ImageReader* reader = nullptr);
  Result<ObjectRef> Decode(const Slice& value, Revision revision) const override;
  Result<Slice> Encode(const ObjectImage& image) const override;
  std::optional<Slice> Restore(const CachedObject& object) const override;

 private:
  uint32_t field_set_;
  const ImageReader* reader_;
};

// Encryption at rest. `key` is the value's whole key in the store: authenticated, so that a value
// moved to another key is noticed. Called from any thread.
class ValueTransformer {
 public:
  struct Read {
    Slice value;
    bool stale = false;  // not as it would be written today: write it again when it comes by
  };
  virtual ~ValueTransformer() = default;
  virtual Result<Read> FromStorage(std::string_view key, const Slice& stored) const = 0;
  virtual Result<Slice> ToStorage(std::string_view key, const Slice& value) const = 0;
};

struct ResourceOptions {
  GroupResource resource;
  std::string prefix;  // as ResourcePrefix gives it
  bool namespaced = true;
  // Field labels that selectors may name besides metadata.name and metadata.namespace, in the order
  // of ObjectFacts::fields.
  std::vector<std::string> fields;
  // Positions in `fields` worth an index: lists and watches that fix one cost what they return.
  std::vector<int> indexed_fields;
  // An empty object of the kind, cut where the version member goes: what a bookmark carries.
  std::string bookmark_before = R"({"metadata":{)";
  std::string bookmark_after = "}}";
  // False for what upstream reads from its store every time: then an expired watch is refused in
  // the store's words instead of the cache's.
  bool cached_upstream = true;
  const ObjectCodec* codec = nullptr;
  const ValueTransformer* transformer = nullptr;  // nullptr: values are stored as they are

  // "/registry/<prefix>/"
  std::string KeyPrefix() const;
};

// Selectors with their field names looked up once.
class Predicate {
 public:
  Predicate() = default;
  // Fields that the resource does not have match as if empty, as in upstream.
  Predicate(const ResourceOptions& resource, selector::LabelSelector labels,
            const selector::FieldSelector& fields);

  bool empty() const { return labels_.empty() && terms_.empty(); }
  bool Matches(const CachedObject& object) const {
    for (const auto& term : terms_) {
      if ((Value(object, term.field) == term.value) != term.equal) return false;
    }
    return labels_.empty() || labels_.Matches(object.labels());
  }

 private:
  static constexpr int kName = -1;
  static constexpr int kNamespace = -2;
  static constexpr int kUnknown = -3;
  struct Term {
    int field;
    bool equal;
    std::string value;
  };
  static std::string_view Value(const CachedObject& object, int field);

  selector::LabelSelector labels_;
  std::vector<Term> terms_;
};

}  // namespace keelson::storage
