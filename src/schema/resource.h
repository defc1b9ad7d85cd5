#pragma once

// What a group-version serves: its kinds and resources, as constant data beside the types.
//
// One ResourceInfo is all that routes, discovery, OpenAPI, printing and selectors need to know of a
// resource. Built-in ones come from api/*.api; custom resources fill the same struct at run time.

#include <cstdint>
#include <span>
#include <string_view>

#include "schema/type.h"

namespace keelson::schema {

enum class Scope : uint8_t { kCluster, kNamespaced };

// Bits of a verb set, in the order discovery lists them.
enum Verb : uint16_t {
  kVerbCreate = 1 << 0,
  kVerbDelete = 1 << 1,
  kVerbDeleteCollection = 1 << 2,
  kVerbGet = 1 << 3,
  kVerbList = 1 << 4,
  kVerbPatch = 1 << 5,
  kVerbUpdate = 1 << 6,
  kVerbWatch = 1 << 7,
  kVerbConnect = 1 << 8,  // not listed: discovery shows get and create for it
};
using VerbSet = uint16_t;

struct GroupVersionKind {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  bool operator==(const GroupVersionKind&) const = default;
};

// A column of a server-printed table.
struct TableColumn {
  std::string_view name;
  std::string_view type;    // string, integer, date, ...
  std::string_view format;  // "name" for the first one
  std::string_view description;
  std::string_view path;  // where the cell comes from; empty when code computes it
  int32_t priority = 0;   // above 0 only in wide output
};

// A field that fieldSelector may name.
struct SelectableField {
  std::string_view label;
  std::string_view path;  // JSON path it reads; empty when it is the label itself
};

struct Subresource {
  std::string_view name;  // "status"
  GroupVersionKind body;  // kind of the body, in its own group-version (Scale, Eviction, ...)
  const Type* type = nullptr;
  VerbSet verbs = 0;
  bool takes_path = false;        // the rest of the path belongs to it (proxy)
  const Type* options = nullptr;  // type of the query, when the answer is plain text (log)
};

struct ResourceInfo {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view list_kind;  // empty when it cannot be listed
  std::string_view plural;
  std::string_view singular;
  std::string_view description;
  Scope scope = Scope::kNamespaced;
  VerbSet verbs = 0;
  const Type* type = nullptr;
  const Type* list_type = nullptr;
  std::span<const std::string_view> short_names;
  std::span<const std::string_view> categories;
  std::span<const Subresource> subresources;
  std::span<const TableColumn> columns;
  std::span<const SelectableField> selectable_fields;
  std::string_view storage_version_hash;
  bool returns_deleted = false;  // delete answers with the object, not with a Status
  GroupVersionKind hub;          // what is stored, when another version or group is (events.k8s.io)
};

// A kind that may stand alone in a request or answer.
struct KindInfo {
  std::string_view kind;
  const Type* type = nullptr;
};

// One api/*.api file.
struct GroupVersionInfo {
  std::string_view group;
  std::string_view version;
  std::string_view file;                    // "core.v1"
  bool served = false;                      // by default
  int32_t group_priority = 0;               // order among groups in discovery, higher first
  int32_t version_priority = 0;             // order among versions of the group
  std::span<const Type* const> types;       // named types, sorted by name
  std::span<const KindInfo> kinds;          // sorted by kind
  std::span<const ResourceInfo> resources;  // in discovery order

  const Type* FindType(std::string_view name) const;
  const Type* FindKind(std::string_view kind) const;
  const ResourceInfo* FindResource(std::string_view plural) const;
};

// Every group-version the program was built with.
class Catalog {
 public:
  constexpr explicit Catalog(std::span<const GroupVersionInfo> group_versions)
      : group_versions_(group_versions) {}

  std::span<const GroupVersionInfo> group_versions() const { return group_versions_; }
  const GroupVersionInfo* Find(std::string_view group, std::string_view version) const;

 private:
  std::span<const GroupVersionInfo> group_versions_;
};

}  // namespace keelson::schema
