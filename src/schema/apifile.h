#pragma once

// Reads the files under api/ that describe the built-in types (docs/api-format.md).
//
// ParseApiFile turns one file into plain declarations and checks only what a single file can tell:
// grammar, numbers, duplicates. Names of other types are resolved by the generator (tools/apigen),
// which sees all files. Nothing here is linked into the server.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace keelson::schema {

// Input past these is refused.
inline constexpr size_t kMaxApiFileBytes = 1 << 20;
inline constexpr size_t kMaxApiLineBytes = 1 << 12;
inline constexpr size_t kMaxApiTypeDepth = 8;

struct SourcePlace {
  uint32_t line = 0;
  uint32_t column = 0;
};

// A type as written: [T] list, {T} map, Name or file.Name, or a built-in scalar in lower case.
struct ApiTypeRef {
  enum class Form : uint8_t { kList, kMap, kNamed, kScalar };
  Form form = Form::kScalar;
  std::string name;                 // kNamed, kScalar
  std::vector<ApiTypeRef> element;  // one, for kList and kMap
  SourcePlace place;
};

// name=value constraints, in the order written.
struct ApiConstraint {
  std::string name;   // min max minLength maxLength maxBytes maxItems pattern format
  std::string value;  // unquoted
};

struct ApiField {
  SourcePlace place;
  uint32_t number = 0;    // protobuf; 0 for none
  bool embedded = false;  // ...Type: its fields stand in this struct
  std::string name;
  ApiTypeRef type;
  std::string description;

  bool required = false;
  bool pointer = false;
  bool omit_empty = false;
  bool omit_zero = false;
  bool hidden = false;  // not in JSON
  bool immutable = false;
  bool atomic = false;                // list, bytes, map or struct
  bool granular = false;              // struct
  bool set = false;                   // list
  std::vector<std::string> map_keys;  // list
  bool merge = false;
  bool replace = false;
  bool retain_keys = false;
  std::string merge_key;
  std::optional<std::string> default_json;
  bool discriminator = false;
  std::optional<std::string> member;  // union member, published in OpenAPI
  std::string one_of;                 // group of which exactly one is set
  std::string zero_or_one_of;         // group of which at most one is set
  std::string gate;
  std::vector<ApiConstraint> constraints;
};

struct ApiDeclaration {
  enum class Form : uint8_t { kKind, kStruct, kEnum, kString, kAlias, kScalar };
  SourcePlace place;
  Form form = Form::kStruct;
  std::string name;
  std::string description;
  std::string list_kind;            // kKind
  std::string go_name;              // when it is not package.Name
  std::string scalar;               // kScalar: which one
  ApiTypeRef alias;                 // kAlias
  std::vector<std::string> values;  // kEnum, kString
  std::vector<ApiField> fields;     // kKind, kStruct; kScalar: its protobuf message
  bool atomic = false;
  bool no_wire = false;
  bool unpublished = false;
  bool own_json = false;
  bool everywhere = false;   // registered in every group-version
  bool unversioned = false;  // registered in core/v1 for use anywhere
  bool wrapped = false;      // kAlias: a list that is a message in protobuf
};

struct ApiColumn {
  std::string name;
  std::string type = "string";
  std::string format;
  bool wide = false;
};

struct ApiSelector {
  std::string label;
  std::string path;  // empty when the same
};

struct ApiSubresource {
  SourcePlace place;
  std::string name;
  std::vector<std::string> verbs;
  std::string body;      // type of the body; empty for the resource's own
  std::string options;   // type of the query; the answer is then plain text
  bool connect = false;  // answers any method by connecting elsewhere
  bool path = false;     // takes the rest of the path
};

struct ApiResource {
  SourcePlace place;
  std::string plural;
  std::string kind;
  std::string singular;
  bool namespaced = false;
  bool returns_deleted = false;  // delete answers with the object, not with a Status
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs;
  std::vector<ApiSubresource> subresources;
  std::vector<ApiColumn> columns;
  std::vector<ApiSelector> selectors;
  std::string storage_hash;
  std::string stored;  // type that is stored instead
};

struct ApiFile {
  std::string name;        // "core.v1"
  bool versioned = false;  // has group and version
  std::string group;
  std::string version;
  std::string package;
  uint32_t group_priority = 0;    // order among groups in discovery, higher first
  uint32_t version_priority = 0;  // order among versions of the group
  bool served = false;
  bool unpublished = false;
  bool no_wire = false;
  std::vector<ApiResource> resources;
  std::vector<ApiDeclaration> declarations;
};

// Fails with kInvalid or kTooLarge and "<file_name>:<line>:<column>: <what>".
Result<ApiFile> ParseApiFile(std::string_view file_name, std::string_view text);

}  // namespace keelson::schema
