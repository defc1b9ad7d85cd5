#pragma once

// What the two renderers share: operations as data, and how a type becomes a schema.

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/json_text.h"
#include "schema/openapi.h"

namespace keelson::schema::openapi {

enum class Version : uint8_t { kV2, kV3 };

struct Parameter {
  std::string name;
  std::string_view type;  // string, integer, boolean
  std::string description;
  bool in_path = false;
  auto operator<=>(const Parameter&) const = default;
};

// Media types of an answer.
enum class Produces : uint8_t { kJson, kObject, kWatch, kAnything, kText, kKeySet };

struct Operation {
  std::string_view method;  // get put post delete options head patch
  std::string id;
  std::string description;
  std::string tag;
  std::string_view action;  // empty outside resources
  GroupVersionKind kind;
  std::vector<Parameter> parameters;
  std::string body;  // model; empty for none
  bool body_required = true;
  std::string answer;  // model; empty for a string
  std::vector<int> codes = {200};
  Produces produces = Produces::kObject;
  bool custom = false;  // of a custom resource, which has no strategic merge patch
};

struct PathItem {
  std::vector<Operation> operations;
  std::vector<Parameter> shared;  // parameters of all of them
};

using Paths = std::map<std::string, PathItem>;

inline constexpr std::string_view kMetaModel = "io.k8s.apimachinery.pkg.apis.meta.v1.";

// The operations of one v3 document; empty for a name that is not one.
Paths DocumentPaths(const OpenApiSource& source, std::string_view name);

std::span<const std::string_view> MediaTypes(Produces produces, Version version);
std::span<const std::string_view> PatchMediaTypes(Version version, bool custom);
std::string_view CodeText(int code);

// Collects the models that operations refer to, with all they refer to in turn, and writes them.
class Models {
 public:
  Models(const OpenApiSource& source, Version version, GroupVersionKind document);

  void Add(std::string_view model);
  void Write(JsonText& out) const;
  bool empty() const { return wanted_.empty(); }

 private:
  void AddType(const Type& type);
  void WriteModel(JsonText& out, std::string_view model) const;
  void WriteStruct(JsonText& out, const Type& type) const;
  void WriteScalar(JsonText& out, const Type& type) const;
  void WriteCustomList(JsonText& out, const OpenApiResource& resource) const;
  void WriteProperty(JsonText& out, const Field& field) const;
  void WriteContent(JsonText& out, const Type& type) const;
  void WriteReference(JsonText& out, const Type& type) const;
  void WriteKinds(JsonText& out, const Type& type) const;
  void WriteUnions(JsonText& out, const Type& type) const;
  const OpenApiResource* FindCustom(std::string_view model) const;

  const OpenApiSource& source_;
  Version version_;
  GroupVersionKind document_;
  std::map<std::string_view, const Type*> by_model_;
  std::map<std::string, const OpenApiResource*, std::less<>> custom_;
  std::set<std::string, std::less<>> wanted_;
};

}  // namespace keelson::schema::openapi
