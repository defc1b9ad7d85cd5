#pragma once

// OpenAPI documents, rendered from the compiled types and a list of resources.
//
// Upstream publishes one v3 document for each group-version, small ones for the paths in between
// (/apis, /apis/apps, /version, ...), and one v2 document for everything. Rendering is a pure
// function: the caller decides when to do it, keeps the bytes and serves them by their hash. A
// large document takes a few milliseconds, so it belongs on the pool, not on an io thread.
//
// Same paths, operations, models, properties and extensions as upstream; descriptions are our own.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/resource.h"

namespace keelson::schema {

struct OpenApiResource {
  const ResourceInfo* info = nullptr;
  // A custom resource brings its model's name and its published schema, as JSON, for each version
  // of OpenAPI; the list's model is called the same with "List" behind. Empty for built-in ones.
  std::string model;
  std::string schema_v2;
  std::string schema_v3;
};

struct OpenApiSource {
  const Catalog* catalog = nullptr;  // types of bodies and options
  std::vector<OpenApiResource> resources;
  std::string title = "Kubernetes";
  std::string version = "1.36";
};

// Everything served by default in the catalog.
OpenApiSource DefaultOpenApiSource(const Catalog& catalog);

// Names of the v3 documents, sorted: "api/v1", "apis", "apis/apps", "apis/apps/v1", ...
std::vector<std::string> OpenApiV3Names(const OpenApiSource& source);
// One v3 document as JSON; kNotFound for a name that is not among them.
Result<std::string> RenderOpenApiV3(const OpenApiSource& source, std::string_view name);
// The v2 document as JSON.
std::string RenderOpenApiV2(const OpenApiSource& source);

// Upper-case hexadecimal SHA-512 of a document; its ETag and its `hash` query.
std::string OpenApiHash(std::string_view document);

// What /openapi/v3 answers: where each document is found.
struct OpenApiEntry {
  std::string name;
  std::string hash;
};
std::string RenderOpenApiV3Index(const std::vector<OpenApiEntry>& entries);

// The protobuf forms that older and Go clients ask for, from the JSON documents.
Result<std::string> OpenApiV2ToProtobuf(std::string_view json);
Result<std::string> OpenApiV3ToProtobuf(std::string_view json);

}  // namespace keelson::schema
