#include "storage/object_record.h"

#include <array>
#include <cstring>
#include <limits>
#include <string>

namespace keelson::storage {
namespace {

constexpr uint8_t kVersion = 1;

// The fixed part of a record. Both ends are little endian, so it is copied as it lies in memory.
struct Head {
  char magic[4];
  uint8_t version;
  uint8_t field_count;
  uint16_t label_count;
  uint32_t field_set;
  uint32_t json_size;
  uint32_t version_at;
  uint32_t name_at;
  uint32_t ns_at;
  uint32_t uid_at;
  uint16_t type_end;
  uint16_t name_size;
  uint8_t ns_size;
  uint8_t uid_size;
  uint16_t zero;
};
static_assert(sizeof(Head) == 40);
static_assert(std::endian::native == std::endian::little);

// Finds values in the JSON, or puts them behind it.
class Placement {
 public:
  explicit Placement(std::string_view json) : json_(json) {}

  // Position of `value`.
  uint64_t Place(std::string_view value) {
    if (value.empty()) return 0;
    if (auto at = InJson(value)) return *at;
    uint64_t at = json_.size() + extra_.size();
    extra_ += value;
    return at;
  }

  // Position of the label's key, whose value stands behind `":"`.
  uint64_t Place(const Label& label) {
    auto key = InJson(label.key);
    auto value = InJson(label.value);
    if (key && value && *value == *key + label.key.size() + 3) return *key;
    uint64_t at = json_.size() + extra_.size();
    extra_.append(label.key).append("\":\"").append(label.value);
    return at;
  }

  const std::string& extra() const { return extra_; }

 private:
  std::optional<uint64_t> InJson(std::string_view value) const {
    std::less_equal<> not_after;
    if (!not_after(json_.data(), value.data()) ||
        !not_after(value.data() + value.size(), json_.data() + json_.size())) {
      return std::nullopt;
    }
    return static_cast<uint64_t>(value.data() - json_.data());
  }

  std::string_view json_;
  std::string extra_;
};

template <typename Small>
bool Fits(size_t value) {
  return value <= std::numeric_limits<Small>::max();
}

}  // namespace

uint32_t ObjectRecord::FieldSet(std::span<const std::string_view> fields) {
  uint32_t hash = 2166136261u;  // FNV-1a over the names, each with a separator
  for (auto field : fields) {
    for (char c : field) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    hash = (hash ^ 0xFFu) * 16777619u;
  }
  return hash;
}

Result<Slice> ObjectRecord::Encode(const ObjectImage& image, uint32_t field_set) {
  using LabelEntry = CachedObject::LabelEntry;
  using FieldEntry = CachedObject::FieldEntry;
  const auto& facts = image.facts;
  const auto json = image.json.view();
  Placement placement(json);
  Head head{.version = kVersion,
            .field_count = static_cast<uint8_t>(facts.fields.size()),
            .label_count = static_cast<uint16_t>(facts.labels.size()),
            .field_set = field_set,
            .json_size = static_cast<uint32_t>(json.size()),
            .version_at = facts.version_at,
            .name_at = static_cast<uint32_t>(placement.Place(facts.name)),
            .ns_at = static_cast<uint32_t>(placement.Place(facts.ns)),
            .uid_at = static_cast<uint32_t>(placement.Place(facts.uid)),
            .type_end = static_cast<uint16_t>(facts.type_end),
            .name_size = static_cast<uint16_t>(facts.name.size()),
            .ns_size = static_cast<uint8_t>(facts.ns.size()),
            .uid_size = static_cast<uint8_t>(facts.uid.size())};
  std::memcpy(head.magic, kMagic.data(), kMagic.size());
  bool fits = json.size() <= CachedObject::kMaxPosition && Fits<uint8_t>(facts.fields.size()) &&
              Fits<uint16_t>(facts.labels.size()) && Fits<uint16_t>(facts.type_end) &&
              Fits<uint16_t>(facts.name.size()) && Fits<uint8_t>(facts.ns.size()) &&
              Fits<uint8_t>(facts.uid.size());

  std::vector<LabelEntry> labels;
  labels.reserve(facts.labels.size());
  for (const auto& label : facts.labels) {
    fits = fits && Fits<uint16_t>(label.key.size()) && Fits<uint16_t>(label.value.size());
    labels.push_back({static_cast<uint32_t>(placement.Place(label)),
                      static_cast<uint16_t>(label.key.size()),
                      static_cast<uint16_t>(label.value.size())});
  }
  std::vector<FieldEntry> fields;
  fields.reserve(facts.fields.size());
  for (auto value : facts.fields) {
    fits = fits && value.size() <= CachedObject::kMaxFieldSize;
    fields.push_back(FieldEntry::Pack(placement.Place(value), value.size()));
  }
  if (!fits || json.size() + placement.extra().size() > CachedObject::kMaxPosition) {
    return Fail(ErrorCode::kTooLarge, "object {}/{} is too large to be stored", facts.ns,
                facts.name);
  }
  if (facts.version_at == 0 || facts.version_at >= json.size() || facts.type_end >= json.size()) {
    return Fail(ErrorCode::kInvalid, "facts of {}/{} contradict its JSON", facts.ns, facts.name);
  }

  const size_t tables = CachedObject::TablesSize(labels.size(), fields.size());
  return Slice::Make(sizeof head + tables + json.size() + placement.extra().size(), [&](char* out) {
    auto append = [&](const void* from, size_t size) {
      if (size != 0) std::memcpy(out, from, size);
      out += size;
    };
    append(&head, sizeof head);
    append(labels.data(), labels.size() * sizeof(LabelEntry));
    append(fields.data(), fields.size() * sizeof(FieldEntry));
    append(json.data(), json.size());
    append(placement.extra().data(), placement.extra().size());
  });
}

Result<std::string_view> ObjectRecord::Json(std::string_view record) {
  Head head;
  if (record.size() < sizeof head || !IsRecord(record)) {
    return Fail(ErrorCode::kCorrupt, "not an object record");
  }
  std::memcpy(&head, record.data(), sizeof head);
  if (head.version != kVersion) {
    return Fail(ErrorCode::kUnsupported, "object record of version {}", head.version);
  }
  size_t tables = CachedObject::TablesSize(head.label_count, head.field_count);
  if (record.size() - sizeof head < tables + head.json_size) {
    return Fail(ErrorCode::kCorrupt, "object record is cut short");
  }
  return record.substr(sizeof head + tables, head.json_size);
}

Result<ObjectRef> ObjectRecord::Decode(std::string_view record, uint32_t field_set,
                                       Revision revision) {
  using LabelEntry = CachedObject::LabelEntry;
  using FieldEntry = CachedObject::FieldEntry;
  TRY(auto json, Json(record));
  Head head;
  std::memcpy(&head, record.data(), sizeof head);
  if (head.field_set != field_set) {
    return Fail(ErrorCode::kUnsupported, "object record has facts for other fields");
  }
  const size_t tables = CachedObject::TablesSize(head.label_count, head.field_count);
  const size_t content = record.size() - sizeof head - tables;  // JSON and what stands behind it
  if (content > CachedObject::kMaxPosition || head.version_at >= json.size() ||
      head.type_end >= json.size()) {
    return Fail(ErrorCode::kCorrupt, "object record contradicts itself");
  }

  std::array<FieldEntry, std::numeric_limits<uint8_t>::max()> fields;
  std::memcpy(fields.data(), record.data() + sizeof head + head.label_count * sizeof(LabelEntry),
              head.field_count * sizeof(FieldEntry));
  // Short entries leave room for the longest version.
  bool wide = content + sizeof(CachedObject::VersionMember) > CachedObject::kMaxShortPosition;
  for (size_t i = 0; i < head.field_count; ++i) {
    wide = wide || fields[i].size() > CachedObject::kMaxShortFieldSize;
  }
  const size_t room =
      sizeof(CachedObject) + CachedObject::TablesSize(head.label_count, head.field_count, wide);

  // Positions behind the place of the version move by its size.
  CachedObject::VersionMember version(revision);
  bool in_bounds = true;
  auto move = [&](uint64_t at, uint64_t size) {
    in_bounds = in_bounds && at + size <= content;
    return static_cast<uint32_t>(at < head.version_at ? at : at + version.size());
  };
  const CachedObject* made = nullptr;
  Slice keeper = Slice::Make(room + content + version.size(), [&](char* out) {
    auto* object = new (out) CachedObject;
    object->revision_ = revision;
    object->json_size_ = static_cast<uint32_t>(json.size() + version.size());
    object->extra_size_ = static_cast<uint32_t>(content - json.size());
    object->version_at_ = head.version_at;
    object->name_at_ = move(head.name_at, head.name_size);
    object->ns_at_ = move(head.ns_at, head.ns_size);
    object->uid_at_ = move(head.uid_at, head.uid_size);
    object->type_end_ = head.type_end;
    object->name_size_ = head.name_size;
    object->label_count_ = head.label_count;
    object->ns_size_ = head.ns_size;
    object->uid_size_ = head.uid_size;
    object->field_count_ = head.field_count;
    object->version_size_ = static_cast<uint8_t>(version.size());
    object->from_record_ = head.zero == 0;
    object->wide_fields_ = wide;
    auto* labels = const_cast<LabelEntry*>(object->label_entries());
    std::memcpy(static_cast<void*>(labels), record.data() + sizeof head,
                head.label_count * sizeof(LabelEntry));
    for (size_t i = 0; i < head.label_count; ++i) {
      labels[i].key_at =
          move(labels[i].key_at, uint64_t{3} + labels[i].key_size + labels[i].value_size);
    }
    for (size_t i = 0; i < head.field_count; ++i) {
      const auto size = fields[i].size();
      object->SetFieldAt(i, move(fields[i].at(), size), size);
    }
    char* to = const_cast<char*>(object->json());
    std::memcpy(to, json.data(), head.version_at);
    std::memcpy(to + head.version_at, version.data(), version.size());
    std::memcpy(to + head.version_at + version.size(), json.data() + head.version_at,
                content - head.version_at);
    made = object;
  });
  if (!in_bounds) return Fail(ErrorCode::kCorrupt, "object record points outside itself");
  return ObjectRef::Share(made);
}

Slice ObjectRecord::Restore(const CachedObject& object, uint32_t field_set) {
  using LabelEntry = CachedObject::LabelEntry;
  using FieldEntry = CachedObject::FieldEntry;
  // The reverse of what Decode does to positions.
  const uint32_t end = object.version_at_ + object.version_size_;
  auto move = [&](uint32_t at) { return at < end ? at : at - object.version_size_; };
  Head head{.version = kVersion,
            .field_count = object.field_count_,
            .label_count = object.label_count_,
            .field_set = field_set,
            .json_size = object.json_size_ - object.version_size_,
            .version_at = object.version_at_,
            .name_at = move(object.name_at_),
            .ns_at = move(object.ns_at_),
            .uid_at = move(object.uid_at_),
            .type_end = object.type_end_,
            .name_size = object.name_size_,
            .ns_size = object.ns_size_,
            .uid_size = object.uid_size_};
  std::memcpy(head.magic, kMagic.data(), kMagic.size());
  const size_t tables = CachedObject::TablesSize(object.label_count_, object.field_count_);
  auto [front, back] = object.WithoutVersion();
  const size_t rest = back.size() + object.extra_size_;
  return Slice::Make(sizeof head + tables + front.size() + rest, [&](char* out) {
    std::memcpy(out, &head, sizeof head);
    out += sizeof head;
    for (size_t i = 0; i < object.label_count_; ++i, out += sizeof(LabelEntry)) {
      LabelEntry entry = object.label_entries()[i];
      entry.key_at = move(entry.key_at);
      std::memcpy(out, &entry, sizeof entry);
    }
    for (size_t i = 0; i < object.field_count_; ++i, out += sizeof(FieldEntry)) {
      FieldEntry entry = object.FieldAt(i);
      entry = FieldEntry::Pack(move(entry.at()), entry.size());
      std::memcpy(out, &entry, sizeof entry);
    }
    std::memcpy(out, front.data(), front.size());
    std::memcpy(out + front.size(), back.data(), rest);
  });
}

}  // namespace keelson::storage
