#include "schema/openapi.h"

#include <algorithm>
#include <map>
#include <set>

#include "crypto/digest.h"
#include "schema/openapi_model.h"

namespace keelson::schema {

using openapi::Models;
using openapi::Operation;
using openapi::Parameter;
using openapi::PathItem;
using openapi::Paths;
using openapi::Produces;
using openapi::Version;

namespace {

constexpr std::string_view kBearer =
    R"({"BearerToken":{"type":"apiKey","description":"Bearer Token authentication",)"
    R"("name":"authorization","in":"header"}})";

void WriteInfo(JsonText& out, const OpenApiSource& source) {
  out.Key("info").Begin().Field("title", source.title).Field("version", source.version).End();
}

void WriteAnswerSchema(JsonText& out, Version version, const std::string& model) {
  out.Key("schema").Begin();
  if (model.empty()) {
    out.Field("type", "string");
  } else {
    out.Field("$ref",
              (version == Version::kV3 ? "#/components/schemas/" : "#/definitions/") + model);
  }
  out.End();
}

void WriteKind(JsonText& out, const Operation& operation) {
  if (operation.action.empty()) return;
  out.Field("x-kubernetes-action", operation.action);
  out.Key("x-kubernetes-group-version-kind")
      .Begin()
      .Field("group", operation.kind.group)
      .Field("version", operation.kind.version)
      .Field("kind", operation.kind.kind)
      .End();
}

void WriteParametersV3(JsonText& out, const std::vector<Parameter>& parameters) {
  if (parameters.empty()) return;
  out.Key("parameters").BeginList();
  for (const Parameter& parameter : parameters) {
    out.Begin().Field("name", parameter.name).Field("in", parameter.in_path ? "path" : "query");
    if (!parameter.description.empty()) out.Field("description", parameter.description);
    if (parameter.in_path) out.RawField("required", "true");
    out.Key("schema").Begin().Field("type", parameter.type).RawField("uniqueItems", "true").End();
    out.End();
  }
  out.EndList();
}

void WriteContentV3(JsonText& out, std::span<const std::string_view> types,
                    const std::string& model) {
  out.Key("content").Begin();
  for (std::string_view type : types) {
    out.Key(type).Begin();
    WriteAnswerSchema(out, Version::kV3, model);
    out.End();
  }
  out.End();
}

void WriteOperationV3(JsonText& out, const Operation& operation) {
  static constexpr std::string_view kAnything[] = {"*/*"};
  out.Key(operation.method).Begin();
  out.Key("tags").BeginList().String(operation.tag).EndList();
  out.Field("description", operation.description).Field("operationId", operation.id);
  WriteParametersV3(out, operation.parameters);
  if (!operation.body.empty()) {
    out.Key("requestBody").Begin();
    WriteContentV3(out,
                   operation.action == "patch"
                       ? openapi::PatchMediaTypes(Version::kV3, operation.custom)
                       : std::span<const std::string_view>(kAnything),
                   operation.body);
    if (operation.body_required) out.RawField("required", "true");
    out.End();
  }
  out.Key("responses").Begin();
  for (int code : operation.codes) {
    out.Key(fmt::to_string(code)).Begin().Field("description", openapi::CodeText(code));
    WriteContentV3(out, openapi::MediaTypes(operation.produces, Version::kV3), operation.answer);
    out.End();
  }
  out.Key("401").Begin().Field("description", openapi::CodeText(401)).End();
  out.End();
  WriteKind(out, operation);
  out.End();
}

// The parameters of v2, most of which stand once and are referred to.
class SharedParameters {
 public:
  void WriteBody(JsonText& out, const Operation& operation) {
    JsonText text;
    text.Begin().Field("name", "body").Field("in", "body");
    if (operation.body_required) text.RawField("required", "true");
    WriteAnswerSchema(text, Version::kV2, operation.body);
    text.End();
    Write(out, "body", std::move(text).Take(), operation.body.starts_with("io.k8s.apimachinery"));
  }
  void WriteParameter(JsonText& out, const Parameter& parameter) {
    JsonText text;
    text.Begin().RawField("uniqueItems", "true").Field("type", parameter.type);
    if (!parameter.description.empty()) text.Field("description", parameter.description);
    text.Field("name", parameter.name).Field("in", parameter.in_path ? "path" : "query");
    if (parameter.in_path) text.RawField("required", "true");
    text.End();
    // Old clients look for the last two in the operations, to learn what the server can do.
    const bool shared = parameter.name != "name" && parameter.name != "dryRun" &&
                        parameter.name != "fieldValidation";
    Write(out, parameter.name, std::move(text).Take(), shared);
  }
  void WriteAll(JsonText& out) const {
    out.Key("parameters").Begin();
    for (const auto& [name, json] : shared_) out.RawField(name, json);
    out.End();
  }

 private:
  void Write(JsonText& out, std::string_view name, std::string json, bool shared) {
    if (!shared) {
      out.Raw(json);
      return;
    }
    const auto key = fmt::format(
        "{}-{}", name, crypto::HexEncode(crypto::Digest(crypto::Hash::kSha256, json).substr(0, 4)));
    out.Begin().Field("$ref", "#/parameters/" + key).End();
    shared_.emplace(key, std::move(json));
  }

  std::map<std::string, std::string> shared_;
};

void WriteParametersV2(JsonText& out, const std::vector<Parameter>& parameters,
                       const Operation* operation, SharedParameters& shared) {
  const bool body = operation && !operation->body.empty();
  if (parameters.empty() && !body) return;
  out.Key("parameters").BeginList();
  if (body) shared.WriteBody(out, *operation);
  for (const Parameter& parameter : parameters) shared.WriteParameter(out, parameter);
  out.EndList();
}

void WriteList(JsonText& out, std::string_view name, std::span<const std::string_view> texts) {
  out.Key(name).BeginList();
  for (std::string_view text : texts) out.String(text);
  out.EndList();
}

void WriteOperationV2(JsonText& out, const Operation& operation, SharedParameters& shared) {
  static constexpr std::string_view kAnything[] = {"*/*"};
  static constexpr std::string_view kSchemes[] = {"https"};
  out.Key(operation.method).Begin().Field("description", operation.description);
  if (operation.action.empty()) {
    // Discovery names what it answers with on both sides; the other plain documents do not.
    if (operation.answer.starts_with(openapi::kMetaModel) || operation.id == "getCodeVersion")
      WriteList(out, "consumes", openapi::MediaTypes(operation.produces, Version::kV2));
  } else {
    WriteList(out, "consumes",
              operation.action == "patch" ? openapi::PatchMediaTypes(Version::kV2, operation.custom)
                                          : std::span<const std::string_view>(kAnything));
  }
  WriteList(out, "produces", openapi::MediaTypes(operation.produces, Version::kV2));
  WriteList(out, "schemes", kSchemes);
  out.Key("tags").BeginList().String(operation.tag).EndList();
  out.Field("operationId", operation.id);
  WriteParametersV2(out, operation.parameters, &operation, shared);
  out.Key("responses").Begin();
  for (int code : operation.codes) {
    out.Key(fmt::to_string(code)).Begin().Field("description", openapi::CodeText(code));
    WriteAnswerSchema(out, Version::kV2, operation.answer);
    out.End();
  }
  out.Key("401").Begin().Field("description", openapi::CodeText(401)).End();
  out.End();
  WriteKind(out, operation);
  out.End();
}

void WritePaths(JsonText& out, const Paths& paths, Version version, SharedParameters& shared) {
  out.Key("paths").Begin();
  for (const auto& [path, item] : paths) {
    out.Key(path).Begin();
    for (const Operation& operation : item.operations)
      version == Version::kV3 ? WriteOperationV3(out, operation)
                              : WriteOperationV2(out, operation, shared);
    version == Version::kV3 ? WriteParametersV3(out, item.shared)
                            : WriteParametersV2(out, item.shared, nullptr, shared);
    out.End();
  }
  out.End();
}

void AddModels(Models& models, const Paths& paths) {
  for (const auto& [path, item] : paths) {
    for (const Operation& operation : item.operations) {
      models.Add(operation.body);
      models.Add(operation.answer);
    }
  }
}

}  // namespace

OpenApiSource DefaultOpenApiSource(const Catalog& catalog) {
  OpenApiSource source{.catalog = &catalog};
  for (const GroupVersionInfo& info : catalog.group_versions()) {
    if (!info.served) continue;
    for (const ResourceInfo& resource : info.resources)
      source.resources.push_back({.info = &resource});
  }
  return source;
}

std::vector<std::string> OpenApiV3Names(const OpenApiSource& source) {
  std::set<std::string> names = {".well-known/openid-configuration", "api", "apis",
                                 "openid/v1/jwks", "version"};
  for (const OpenApiResource& resource : source.resources) {
    const ResourceInfo& info = *resource.info;
    if (info.group.empty()) {
      names.insert(fmt::format("api/{}", info.version));
    } else {
      names.insert(fmt::format("apis/{}", info.group));
      names.insert(fmt::format("apis/{}/{}", info.group, info.version));
    }
  }
  return {names.begin(), names.end()};
}

Result<std::string> RenderOpenApiV3(const OpenApiSource& source, std::string_view name) {
  const Paths paths = openapi::DocumentPaths(source, name);
  if (paths.empty()) return Fail(ErrorCode::kNotFound, "no OpenAPI document {}", name);
  GroupVersionKind document;
  if (name.starts_with("api/")) document.version = name.substr(4);
  if (name.starts_with("apis/")) {
    const size_t slash = name.find('/', 5);
    document.group = name.substr(5, slash == std::string_view::npos ? slash : slash - 5);
    if (slash != std::string_view::npos) document.version = name.substr(slash + 1);
  }
  Models models(source, Version::kV3, document);
  AddModels(models, paths);
  JsonText out;
  out.Begin().Field("openapi", "3.0.0");
  WriteInfo(out, source);
  SharedParameters none;
  WritePaths(out, paths, Version::kV3, none);
  out.Key("components").Begin();
  if (!models.empty()) {
    out.Key("schemas");
    models.Write(out);
  }
  out.RawField("securitySchemes", kBearer).End().End();
  return std::move(out).Take();
}

std::string RenderOpenApiV2(const OpenApiSource& source) {
  Paths all;
  for (const std::string& name : OpenApiV3Names(source))
    all.merge(openapi::DocumentPaths(source, name));
  Models models(source, Version::kV2, {});
  AddModels(models, all);
  JsonText out;
  out.Begin().Field("swagger", "2.0");
  WriteInfo(out, source);
  SharedParameters shared;
  WritePaths(out, all, Version::kV2, shared);
  out.Key("definitions");
  models.Write(out);
  shared.WriteAll(out);
  out.RawField("securityDefinitions", kBearer);
  out.RawField("security", R"([{"BearerToken":[]}])").End();
  return std::move(out).Take();
}

std::string OpenApiHash(std::string_view document) {
  std::string hex = crypto::HexEncode(crypto::Digest(crypto::Hash::kSha512, document));
  for (char& c : hex)
    if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 32);
  return hex;
}

std::string RenderOpenApiV3Index(const std::vector<OpenApiEntry>& entries) {
  JsonText out;
  out.Begin().Key("paths").Begin();
  for (const OpenApiEntry& entry : entries) {
    out.Key(entry.name)
        .Begin()
        .Field("serverRelativeURL", fmt::format("/openapi/v3/{}?hash={}", entry.name, entry.hash))
        .End();
  }
  out.End().End();
  return std::move(out).Take();
}

}  // namespace keelson::schema
