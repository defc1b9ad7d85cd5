#pragma once

// CachedObject: an object in its finished wire form, with the few facts that reads need.
//
// The bytes are the object's JSON with its resourceVersion in place. Beside them stand the revision
// and where in the bytes the name, namespace, uid, labels and selectable field values are, so that
// selectors match without parsing. Everything lies in one block:
//
//   CachedObject | label entries | field entries | JSON | values that the JSON does not hold
//   verbatim
//
// so a cached object costs one allocation, and a Slice of its JSON keeps the whole of it alive.
// Immutable; any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/types.h"

namespace keelson::storage {

using kv::Revision;

struct Label {
  std::string_view key;
  std::string_view value;
};

// What the encoder of an object tells about it. The views may point into its JSON, which is
// cheapest, or to any memory that outlives the call they are passed to.
struct ObjectFacts {
  std::string_view name;
  std::string_view ns;  // empty for cluster-scoped objects
  std::string_view uid;
  std::vector<Label> labels;
  // Values of the resource's selectable fields, in the order of ResourceOptions::fields.
  std::vector<std::string_view> fields;
  // Where `,"resourceVersion":"..."` belongs: right behind a member of metadata.
  uint32_t version_at = 0;
  // Where the members behind kind and apiVersion begin: list items of built-in kinds leave these
  // two out. 0 when list items keep them.
  uint32_t type_end = 0;
};

// An object as it is stored: compact JSON without resourceVersion, and its facts.
struct ObjectImage {
  Slice json;
  ObjectFacts facts;
  std::vector<Slice> kept;  // keeps alive what the facts' views point to, besides `json`
};

// What the store knows about an object besides its value.
struct Lineage {
  Revision created = 0;  // 0 when it is not known, or the object older than can be expressed
  int64_t version = 0;   // how often it was written since
  bool leased = false;
};

class ObjectRef;

class CachedObject {
 public:
  // Fails with kTooLarge when the object passes what the header can express (256 MiB), kInvalid
  // when the facts contradict the JSON.
  static Result<ObjectRef> Create(const ObjectImage& image, Revision revision);

  CachedObject(const CachedObject&) = delete;
  CachedObject& operator=(const CachedObject&) = delete;

  Revision revision() const { return revision_; }
  std::string_view name() const { return At(name_at_, name_size_); }
  std::string_view ns() const { return At(ns_at_, ns_size_); }
  std::string_view uid() const { return At(uid_at_, uid_size_); }

  std::string_view json_view() const { return {json(), json_size_}; }
  // The whole object.
  Slice Json() const { return Slice::Share(block(), json_view()); }
  // The object as an item of a list, without its opening brace when `omits_type`.
  Slice ListItem() const { return Slice::Share(block(), json_view().substr(type_end_)); }
  bool omits_type() const { return type_end_ != 0; }

  // The two parts around `,"resourceVersion":"..."`; together they are the stored JSON.
  std::pair<std::string_view, std::string_view> WithoutVersion() const;
  bool SameExceptVersion(std::string_view json_without_version) const;

  // Set by whoever has just made the object and shares it with nobody yet.
  void SetLineage(const Lineage& lineage) const;
  Lineage lineage() const;
  // Made straight from an ObjectRecord, which can be made again from it.
  bool from_record() const { return from_record_; }

  // The same object at another revision: the last state of a deleted object, at its deletion.
  ObjectRef AtRevision(Revision revision) const;

  // selector::LabelSelector's view.
  struct Labels {
    const CachedObject* object;
    std::optional<std::string_view> Find(std::string_view key) const;
  };
  Labels labels() const { return {this}; }
  size_t label_count() const { return label_count_; }
  Label label(size_t i) const;
  size_t field_count() const { return field_count_; }
  // The value of selectable field `i`; empty when the object has fewer.
  std::string_view field(size_t i) const;

  // Bytes this object occupies, without what the allocator adds.
  size_t footprint() const;

 private:
  friend class ObjectRef;
  friend class ObjectRecord;

  struct LabelEntry {  // the value stands three bytes behind the key: `key":"value`
    uint32_t key_at;
    uint16_t key_size;
    uint16_t value_size;
  };
  struct FieldEntry {  // 28 bits of position, 20 bits of size
    uint16_t words[3];
    static FieldEntry Pack(uint64_t at, uint64_t size);
    uint32_t at() const { return words[0] | (words[1] & 0xFFFu) << 16; }
    uint32_t size() const {
      return static_cast<uint32_t>(words[1]) >> 12 | static_cast<uint32_t>(words[2]) << 4;
    }
  };
  // In objects of less than a megabyte, where that is enough: 20 bits of position, 12 of size.
  struct ShortFieldEntry {
    uint32_t word;
    static ShortFieldEntry Pack(uint64_t at, uint64_t size) {
      return {static_cast<uint32_t>(at | size << 20)};
    }
    uint32_t at() const { return word & kMaxShortPosition; }
    uint32_t size() const { return word >> 20; }
  };
  // `,"resourceVersion":"123"`
  class VersionMember {
   public:
    explicit VersionMember(Revision revision);
    const char* data() const { return text_; }
    size_t size() const { return size_; }

   private:
    char text_[42];
    uint8_t size_ = 0;
  };
  static constexpr uint64_t kMaxPosition = (uint64_t{1} << 28) - 1;
  static constexpr uint64_t kMaxFieldSize = (uint64_t{1} << 20) - 1;
  static constexpr uint32_t kMaxShortPosition = (uint32_t{1} << 20) - 1;
  static constexpr uint32_t kMaxShortFieldSize = (uint32_t{1} << 12) - 1;

  CachedObject() = default;

  const char* block() const { return reinterpret_cast<const char*>(this); }
  const LabelEntry* label_entries() const {
    return reinterpret_cast<const LabelEntry*>(block() + sizeof(CachedObject));
  }
  const char* field_table() const {
    return reinterpret_cast<const char*>(label_entries() + label_count_);
  }
  FieldEntry FieldAt(size_t i) const;
  void SetFieldAt(size_t i, uint32_t at, uint32_t size);
  static constexpr size_t FieldEntrySize(bool wide) {
    return wide ? sizeof(FieldEntry) : sizeof(ShortFieldEntry);
  }
  const char* json() const { return field_table() + field_count_ * FieldEntrySize(wide_fields_); }
  std::string_view At(uint32_t at, size_t size) const { return {json() + at, size}; }
  static size_t TablesSize(size_t labels, size_t fields, bool wide = true) {
    return labels * sizeof(LabelEntry) + fields * FieldEntrySize(wide);
  }

  Revision revision_ = 0;
  uint32_t json_size_ = 0;   // with the version member
  uint32_t extra_size_ = 0;  // bytes behind the JSON
  uint32_t version_at_ = 0;
  uint32_t name_at_ = 0;
  uint32_t ns_at_ = 0;
  uint32_t uid_at_ = 0;
  // Written so many revisions after its creation, plus one, and so many times; 0 when that is not
  // known or does not fit. Whoever is written more often is in the store's memory anyway.
  mutable uint32_t age_ = 0;
  mutable uint16_t writes_ = 0;
  uint16_t type_end_ = 0;
  uint16_t name_size_ = 0;
  uint16_t label_count_ = 0;
  uint8_t ns_size_ = 0;
  uint8_t uid_size_ = 0;
  uint8_t field_count_ = 0;
  uint8_t version_size_ = 0;  // of the whole version member
  mutable bool leased_ : 1 = false;
  bool from_record_ : 1 = false;
  bool wide_fields_ : 1 = true;
};

// Shares a CachedObject; one word.
class ObjectRef {
 public:
  ObjectRef() = default;
  // Takes a reference of its own.
  static ObjectRef Share(const CachedObject* object) {
    if (object != nullptr) Slice::Retain(object->block());
    return ObjectRef(object);
  }
  // Takes over a reference that Detach gave up.
  static ObjectRef Adopt(const CachedObject* object) { return ObjectRef(object); }
  const CachedObject* Detach() { return std::exchange(object_, nullptr); }

  ObjectRef(const ObjectRef& other) : ObjectRef(Share(other.object_)) {}
  ObjectRef(ObjectRef&& other) noexcept : object_(other.Detach()) {}
  ObjectRef& operator=(ObjectRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ObjectRef() {
    if (object_ != nullptr) Slice::Release(object_->block());
  }

  const CachedObject* get() const { return object_; }
  const CachedObject* operator->() const { return object_; }
  const CachedObject& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const ObjectRef&) const = default;

 private:
  explicit ObjectRef(const CachedObject* object) : object_(object) {}

  const CachedObject* object_ = nullptr;
};

}  // namespace keelson::storage
