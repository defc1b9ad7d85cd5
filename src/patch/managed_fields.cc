#include "patch/managed_fields.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "base/status.h"
#include "value/document.h"
#include "value/timestamp.h"

namespace keelson::patch {
namespace {

using value::Member;
using value::Name;
using value::Value;

constexpr std::string_view kAncientChanges = "ancient-changes";
constexpr std::string_view kFieldsType = "FieldsV1";

constexpr Name kManager = Name::Quoted("\"manager\":");
constexpr Name kOperation = Name::Quoted("\"operation\":");
constexpr Name kApiVersion = Name::Quoted("\"apiVersion\":");
constexpr Name kTime = Name::Quoted("\"time\":");
constexpr Name kFieldsTypeName = Name::Quoted("\"fieldsType\":");
constexpr Name kFieldsV1 = Name::Quoted("\"fieldsV1\":");
constexpr Name kSubresource = Name::Quoted("\"subresource\":");

std::string_view OperationName(Operation operation) {
  return operation == Operation::kApply ? "Apply" : "Update";
}

Result<ManagedEntry> DecodeEntry(value::Arena& arena, const Value& encoded, size_t position) {
  ManagedEntry entry;
  std::string_view operation = encoded[kOperation].AsString();
  if (operation == "Apply") {
    entry.operation = Operation::kApply;
  } else if (operation != "Update") {
    return Fail(ErrorCode::kInvalid, "operation must be `Apply` or `Update`");
  }
  entry.api_version = encoded[kApiVersion].AsString();
  if (entry.api_version.empty()) return Fail(ErrorCode::kInvalid, "apiVersion must not be empty");
  std::string_view type = encoded[kFieldsTypeName].AsString();
  if (type.empty()) {
    return Fail(ErrorCode::kInvalid, "missing fieldsType in managed fields entry {}", position);
  }
  if (type != kFieldsType) {
    return Fail(ErrorCode::kInvalid, "invalid fieldsType \"{}\" in managed fields entry {}", type,
                position);
  }
  entry.manager = encoded[kManager].AsString();
  entry.subresource = encoded[kSubresource].AsString();
  entry.time = encoded[kTime].AsString();
  auto fields = schema::ParseFieldsV1(arena, encoded[kFieldsV1]);
  if (!fields) return Annotate(fields.error(), "error decoding set");
  entry.fields = *fields;
  return entry;
}

Value EncodeEntry(value::Arena& arena, const ManagedEntry& entry) {
  auto* members = arena.AllocateArray<Member>(7);
  size_t count = 0;
  auto add = [&](const Name& name, Value field) { new (&members[count++]) Member(&name, field); };
  auto text = [&](std::string_view from) { return Value::String(arena.CopyString(from)); };
  if (!entry.manager.empty()) add(kManager, text(entry.manager));
  add(kOperation, Value::String(OperationName(entry.operation), true));
  add(kApiVersion, text(entry.api_version));
  if (!entry.time.empty()) add(kTime, text(entry.time));
  add(kFieldsTypeName, Value::String(kFieldsType, true));
  add(kFieldsV1, schema::ToFieldsV1(arena, entry.fields));
  if (!entry.subresource.empty()) add(kSubresource, text(entry.subresource));
  return Value::Object({members, count});
}

}  // namespace

bool ManagedEntry::SameWriter(const ManagedEntry& other) const {
  return manager == other.manager && operation == other.operation &&
         subresource == other.subresource &&
         (operation == Operation::kApply || api_version == other.api_version);
}

std::string ManagedEntry::Identifier() const {
  std::string key = "{";
  auto add = [&](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    if (key.size() > 1) key += ',';
    AppendJsonString(key, name);
    key += ':';
    AppendJsonString(key, text);
  };
  add("manager", manager);
  add("operation", OperationName(operation));
  if (operation == Operation::kUpdate) add("apiVersion", api_version);
  add("subresource", subresource);
  return key + "}";
}

Result<ManagedFields> ManagedFields::Decode(value::Arena& arena, const Value& managed_fields) {
  ManagedFields managed;
  managed.entries_.reserve(managed_fields.items().size() + 1);
  for (const Value& encoded : managed_fields.items()) {
    TRY(auto entry, DecodeEntry(arena, encoded, managed.entries_.size()));
    managed.Put(entry);
  }
  return managed;
}

Value ManagedFields::Encode(value::Arena& arena) const {
  if (entries_.empty()) return Value::Null();
  std::vector<const ManagedEntry*> sorted;
  sorted.reserve(entries_.size());
  for (const ManagedEntry& entry : entries_) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const ManagedEntry* a, const ManagedEntry* b) {
    return std::tie(a->operation, a->time, a->manager, a->api_version, a->subresource) <
           std::tie(b->operation, b->time, b->manager, b->api_version, b->subresource);
  });
  auto* items = arena.AllocateArray<Value>(sorted.size());
  for (size_t i = 0; i < sorted.size(); ++i) new (&items[i]) Value(EncodeEntry(arena, *sorted[i]));
  return Value::List({items, sorted.size()});
}

ManagedEntry* ManagedFields::Find(const ManagedEntry& writer) {
  for (ManagedEntry& entry : entries_) {
    if (entry.SameWriter(writer)) return &entry;
  }
  return nullptr;
}

void ManagedFields::Put(const ManagedEntry& entry) {
  if (ManagedEntry* present = Find(entry)) {
    *present = entry;
  } else {
    entries_.push_back(entry);
  }
}

void ManagedFields::Remove(const ManagedEntry& writer) {
  std::erase_if(entries_, [&](const ManagedEntry& entry) { return entry.SameWriter(writer); });
}

void ManagedFields::CapUpdates(value::Arena& arena, size_t limit) {
  if (entries_.size() <= limit) return;
  std::vector<ManagedEntry> updates;
  for (const ManagedEntry& entry : entries_) {
    if (entry.operation == Operation::kUpdate) updates.push_back(entry);
  }
  if (updates.size() <= limit) return;
  std::sort(updates.begin(), updates.end(), [](const ManagedEntry& a, const ManagedEntry& b) {
    return a.time != b.time ? a.time < b.time : a.Identifier() < b.Identifier();
  });
  // The oldest entry of a version is kept until a second one is found to join it with.
  std::map<std::string_view, ManagedEntry> first_of_version;
  size_t left = updates.size();
  for (size_t i = 0; i < updates.size() && left > limit; ++i) {
    const ManagedEntry& update = updates[i];
    auto [first, is_first] = first_of_version.try_emplace(update.api_version, update);
    if (is_first) continue;
    ManagedEntry bucket;
    bucket.manager = kAncientChanges;
    bucket.api_version = update.api_version;
    if (const ManagedEntry* present = Find(bucket)) {
      bucket.fields = present->fields;
    } else {
      bucket.fields = first->second.fields;
      Remove(first->second);
    }
    bucket.fields = Union(arena, update.fields, bucket.fields);
    bucket.time = update.time;
    Put(bucket);
    if (!update.SameWriter(bucket)) Remove(update);
    --left;
  }
}

bool AsksForReset(const Value& managed_fields) {
  if (!managed_fields.is_list()) return false;
  if (managed_fields.size() == 0) return true;
  if (managed_fields.size() > 1) return false;
  const Value& only = managed_fields.items()[0];
  if (!only.is_object()) return only.is_null();
  // The entry is empty when each of its fields is.
  return std::all_of(only.members().begin(), only.members().end(), [](const Member& member) {
    return member.value.is_null() || (member.value.is_string() && member.value.size() == 0);
  });
}

std::string_view FormatTime(value::Arena& arena, WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch();
  return arena.CopyString(value::FormatTime({.seconds = seconds.count()}));
}

}  // namespace keelson::patch
