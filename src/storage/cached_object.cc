#include "storage/cached_object.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "storage/object_record.h"

namespace keelson::storage {

CachedObject::FieldEntry CachedObject::FieldEntry::Pack(uint64_t at, uint64_t size) {
  return {{static_cast<uint16_t>(at), static_cast<uint16_t>(at >> 16 | (size & 0xF) << 12),
           static_cast<uint16_t>(size >> 4)}};
}

CachedObject::VersionMember::VersionMember(Revision revision) {
  constexpr std::string_view kOpen = R"(,"resourceVersion":")";
  std::memcpy(text_, kOpen.data(), kOpen.size());
  char* end = std::to_chars(text_ + kOpen.size(), text_ + sizeof text_ - 1, revision).ptr;
  *end++ = '"';
  size_ = static_cast<uint8_t>(end - text_);
}

Result<ObjectRef> CachedObject::Create(const ObjectImage& image, Revision revision) {
  TRY(auto record, ObjectRecord::Encode(image, 0));
  TRY(auto object, ObjectRecord::Decode(record.view(), 0, revision));
  const_cast<CachedObject&>(*object).from_record_ = false;  // what is stored looks otherwise
  return object;
}

void CachedObject::SetLineage(const Lineage& lineage) const {
  const Revision age = revision_ - lineage.created;
  const bool fits = lineage.created != 0 && age < std::numeric_limits<uint32_t>::max() &&
                    lineage.version <= std::numeric_limits<uint16_t>::max();
  age_ = fits ? static_cast<uint32_t>(age + 1) : 0;
  writes_ = fits ? static_cast<uint16_t>(lineage.version) : 0;
  leased_ = lineage.leased;
}

Lineage CachedObject::lineage() const {
  return {.created = age_ == 0 ? 0 : revision_ - age_ + 1, .version = writes_, .leased = leased_};
}

CachedObject::FieldEntry CachedObject::FieldAt(size_t i) const {
  const char* at = field_table() + i * FieldEntrySize(wide_fields_);
  if (wide_fields_) {
    FieldEntry entry;
    std::memcpy(&entry, at, sizeof entry);
    return entry;
  }
  ShortFieldEntry entry;
  std::memcpy(&entry, at, sizeof entry);
  return FieldEntry::Pack(entry.at(), entry.size());
}

void CachedObject::SetFieldAt(size_t i, uint32_t at, uint32_t size) {
  char* to = const_cast<char*>(field_table()) + i * FieldEntrySize(wide_fields_);
  if (wide_fields_) {
    auto entry = FieldEntry::Pack(at, size);
    std::memcpy(to, &entry, sizeof entry);
  } else {
    auto entry = ShortFieldEntry::Pack(at, size);
    std::memcpy(to, &entry, sizeof entry);
  }
}

std::pair<std::string_view, std::string_view> CachedObject::WithoutVersion() const {
  auto whole = json_view();
  return {whole.substr(0, version_at_), whole.substr(version_at_ + version_size_)};
}

bool CachedObject::SameExceptVersion(std::string_view json_without_version) const {
  auto [front, back] = WithoutVersion();
  return json_without_version.size() == front.size() + back.size() &&
         json_without_version.starts_with(front) && json_without_version.ends_with(back);
}

ObjectRef CachedObject::AtRevision(Revision revision) const {
  VersionMember version(revision);
  const int64_t shift = static_cast<int64_t>(version.size()) - version_size_;
  const size_t tables = TablesSize(label_count_, field_count_, wide_fields_);
  const size_t size = footprint() + static_cast<size_t>(shift);
  const CachedObject* made = nullptr;
  Slice keeper = Slice::Make(size, [&](char* out) {
    auto* object = new (out) CachedObject;
    std::memcpy(static_cast<void*>(object), this, sizeof *this + tables);
    object->revision_ = revision;
    object->age_ = 0;
    object->json_size_ = static_cast<uint32_t>(json_size_ + shift);
    object->version_size_ = static_cast<uint8_t>(version.size());
    const uint32_t end = version_at_ + version_size_;
    auto move = [&](uint32_t at) { return at < end ? at : static_cast<uint32_t>(at + shift); };
    object->name_at_ = move(name_at_);
    object->ns_at_ = move(ns_at_);
    object->uid_at_ = move(uid_at_);
    auto* labels = const_cast<LabelEntry*>(object->label_entries());
    for (size_t i = 0; i < label_count_; ++i) labels[i].key_at = move(labels[i].key_at);
    for (size_t i = 0; i < field_count_; ++i) {
      auto field = FieldAt(i);
      object->SetFieldAt(i, move(field.at()), field.size());
    }
    auto [front, back] = WithoutVersion();
    char* to = const_cast<char*>(object->json());
    to = std::copy(front.begin(), front.end(), to);
    to = std::copy_n(version.data(), version.size(), to);
    std::memcpy(to, back.data(), back.size() + extra_size_);
    made = object;
  });
  return ObjectRef::Share(made);
}

std::optional<std::string_view> CachedObject::Labels::Find(std::string_view key) const {
  const LabelEntry* entries = object->label_entries();
  for (size_t i = 0; i < object->label_count_; ++i) {
    const auto& entry = entries[i];
    if (entry.key_size == key.size() && object->At(entry.key_at, entry.key_size) == key) {
      return object->At(entry.key_at + entry.key_size + 3, entry.value_size);
    }
  }
  return std::nullopt;
}

Label CachedObject::label(size_t i) const {
  const auto& entry = label_entries()[i];
  return {At(entry.key_at, entry.key_size),
          At(entry.key_at + entry.key_size + 3, entry.value_size)};
}

std::string_view CachedObject::field(size_t i) const {
  if (i >= field_count_) return {};
  if (!wide_fields_) {
    ShortFieldEntry entry;
    std::memcpy(&entry, field_table() + i * sizeof entry, sizeof entry);
    return At(entry.at(), entry.size());
  }
  auto entry = FieldAt(i);
  return At(entry.at(), entry.size());
}

size_t CachedObject::footprint() const {
  return sizeof(CachedObject) + TablesSize(label_count_, field_count_, wide_fields_) + json_size_ +
         extra_size_;
}

}  // namespace keelson::storage
