#include "schema/openapi.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "api/catalog.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

using value::Value;

value::Document Parse(std::string_view text) {
  auto document = value::ParseJson(text);
  EXPECT_TRUE(document.has_value());
  return document ? *document : value::Document();
}

value::Document V3(std::string_view name) {
  auto text = RenderOpenApiV3(DefaultOpenApiSource(api::kCatalog), name);
  EXPECT_TRUE(text.has_value()) << name;
  return Parse(text.value_or("{}"));
}

constexpr std::string_view kMethods[] = {"get",     "put",  "post", "delete",
                                         "options", "head", "patch"};

TEST(OpenApi, HasOneDocumentPerPathOfUpstream) {
  const auto source = DefaultOpenApiSource(api::kCatalog);
  const auto names = OpenApiV3Names(source);
  EXPECT_EQ(names.size(), 47u);
  size_t operations = 0;
  std::string hashes;
  for (const std::string& name : names) {
    auto text = RenderOpenApiV3(source, name);
    ASSERT_TRUE(text.has_value()) << name;
    EXPECT_EQ(*text, *RenderOpenApiV3(source, name));
    hashes += OpenApiHash(*text);
    for (const auto& path : Parse(*text)->operator[]("paths").members())
      for (std::string_view method : kMethods) operations += path.value.Find(method) != nullptr;
  }
  EXPECT_EQ(operations, 814u);
  // Changes with the tables and with every description.
  EXPECT_EQ(OpenApiHash(hashes).substr(0, 16), "5327A3F9859C16D7");
  EXPECT_EQ(RenderOpenApiV3(source, "apis/none/v1").error().code, ErrorCode::kNotFound);
}

TEST(OpenApi, EveryReferenceLeadsToAModel) {
  const auto source = DefaultOpenApiSource(api::kCatalog);
  std::vector<std::pair<std::string, std::string>> documents;
  for (const std::string& name : OpenApiV3Names(source))
    documents.emplace_back(name, *RenderOpenApiV3(source, name));
  documents.emplace_back("v2", RenderOpenApiV2(source));
  for (const auto& [name, text] : documents) {
    const auto document = Parse(text);
    const Value models = name == "v2" ? document->operator[]("definitions")
                                      : document->operator[]("components")["schemas"];
    for (size_t at = text.find("\"$ref\":\"#/"); at != std::string::npos;
         at = text.find("\"$ref\":\"#/", at + 1)) {
      const size_t end = text.find('"', at + 9);
      const std::string reference = text.substr(at + 8, end - at - 8);
      const std::string model = reference.substr(reference.rfind('/') + 1);
      const Value& among =
          reference.starts_with("#/parameters/") ? document->operator[]("parameters") : models;
      EXPECT_NE(among.Find(model), nullptr) << name << " " << model;
    }
  }
}

TEST(OpenApi, DescribesFieldsWithTheirFacts) {
  const auto document = V3("api/v1");
  const Value schemas = document->operator[]("components")["schemas"];
  const Value pod = schemas["io.k8s.api.core.v1.PodSpec"];
  EXPECT_EQ(value::ToJson(pod["required"]), R"(["containers"])");
  const Value containers = pod["properties"]["containers"];
  EXPECT_EQ(value::ToJson(containers),
            R"({"description":"The containers; at least one, fixed once the pod exists.",)"
            R"("type":"array","items":{"default":{},"allOf":[{"$ref":)"
            R"("#/components/schemas/io.k8s.api.core.v1.Container"}]},)"
            R"("x-kubernetes-list-map-keys":["name"],"x-kubernetes-list-type":"map",)"
            R"("x-kubernetes-patch-merge-key":"name","x-kubernetes-patch-strategy":"merge"})");
  EXPECT_EQ(value::ToJson(schemas["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]
                                 ["x-kubernetes-group-version-kind"]),
            R"([{"group":"","kind":"DeleteOptions","version":"v1"}])");
  EXPECT_EQ(value::ToJson(schemas["io.k8s.api.core.v1.AppArmorProfile"]["x-kubernetes-unions"]),
            R"([{"discriminator":"type","fields-to-discriminateBy":)"
            R"({"localhostProfile":"LocalhostProfile"}}])");
}

TEST(OpenApi, SharesParametersInVersion2) {
  const auto document = Parse(RenderOpenApiV2(DefaultOpenApiSource(api::kCatalog)));
  const Value shared = document->operator[]("parameters");
  const Value path = document->operator[]("paths")["/api/v1/namespaces/{namespace}/pods"];
  size_t references = 0;
  std::set<std::string_view> inline_names;
  for (const Value& list : {path["parameters"], path["post"]["parameters"]}) {
    for (const Value& one : list.items()) {
      const auto ref = one["$ref"].AsString();
      if (ref.empty()) {
        inline_names.insert(one["name"].AsString());
        continue;
      }
      ++references;
      EXPECT_NE(shared.Find(ref.substr(ref.rfind('/') + 1)), nullptr) << ref;
    }
  }
  EXPECT_GT(references, 2u);
  EXPECT_EQ(inline_names, (std::set<std::string_view>{"body", "dryRun", "fieldValidation"}));
}

TEST(OpenApi, IndexNamesDocumentsByHash) {
  EXPECT_EQ(RenderOpenApiV3Index({{"api/v1", "AB"}, {"version", "CD"}}),
            R"({"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=AB"},)"
            R"("version":{"serverRelativeURL":"/openapi/v3/version?hash=CD"}}})");
}

TEST(OpenApi, ProtobufFollowsTheGnosticModels) {
  auto v2 =
      OpenApiV2ToProtobuf(R"({"swagger":"2.0","definitions":{"A":{"type":"object","x-k":["v"]}}})");
  ASSERT_TRUE(v2.has_value());
  EXPECT_EQ(*v2, std::string_view("\x0a\x03"
                                  "2.0"               // swagger
                                  "\x4a\x24\x0a\x22"  // definitions, one entry
                                  "\x0a\x01"
                                  "A\x12\x1d"             // its name and schema
                                  "\xb2\x01\x08\x0a\x06"  // type
                                  "object"
                                  "\xfa\x01\x0f\x0a\x03"  // vendor extension
                                  "x-k\x12\x08\x12\x06"   // its name and YAML
                                  "[\"v\"]\n"));
  auto v3 = OpenApiV3ToProtobuf(R"({"components":{"schemas":{"A":{"items":{"$ref":"C"}}}}})");
  ASSERT_TRUE(v3.has_value());
  EXPECT_EQ(*v3, std::string_view("\x2a\x15\x0a\x13\x0a\x11"  // components, schemas, one entry
                                  "\x0a\x01"
                                  "A\x12\x0c"
                                  "\x0a\x0a\xf2\x01\x07"  // as a schema, with items
                                  "\x0a\x05\x12\x03\x0a\x01"
                                  "C"));  // that are a reference
  EXPECT_FALSE(OpenApiV2ToProtobuf("{").has_value());
}

// The record of every operation: path, method, operationId, action, kind, models, query.
TEST(OpenApi, EqualsTheRecordedOperations) {
  const char* folder = std::getenv("KEELSON_FACTS");
  if (!folder) GTEST_SKIP() << "KEELSON_FACTS is not set";
  std::ifstream in(std::filesystem::path(folder) / "openapi_ops.json");
  std::ostringstream text;
  text << in.rdbuf();
  const auto facts = Parse(text.str());
  std::map<std::pair<std::string, std::string>, std::string> rendered;
  const auto source = DefaultOpenApiSource(api::kCatalog);
  for (const std::string& name : OpenApiV3Names(source)) {
    const auto document = V3(name);
    for (const auto& path : document->operator[]("paths").members()) {
      for (std::string_view method : kMethods) {
        const Value operation = path.value[method];
        if (operation.is_null()) continue;
        std::set<std::string> query;
        for (const Value& list : {operation["parameters"], path.value["parameters"]})
          for (const Value& one : list.items())
            if (one["in"].AsString() == "query")
              query.insert(
                  fmt::format("{}:{}", one["name"].AsString(), one["schema"]["type"].AsString()));
        std::string line = fmt::format("{} {}", operation["operationId"].AsString(),
                                       operation["x-kubernetes-action"].AsString());
        const Value kind = operation["x-kubernetes-group-version-kind"];
        if (kind.is_object()) {
          const auto group = kind["group"].AsString();
          line += fmt::format(" {}{}{}/{}", group, group.empty() ? "" : "/",
                              kind["version"].AsString(), kind["kind"].AsString());
        }
        for (const std::string& one : query) line += " " + one;
        for (const auto& body : operation["requestBody"]["content"].members()) {
          const auto ref = body.value["schema"]["$ref"].AsString();
          line += fmt::format(" <{} {}", body.key(), ref.substr(ref.rfind('/') + 1));
        }
        for (const auto& response : operation["responses"].members()) {
          line += fmt::format(" >{}", response.key());
          const auto content = response.value["content"].members();
          if (content.empty()) continue;
          const Value schema = content[0].value["schema"];
          const auto ref = schema["$ref"].AsString();
          line += fmt::format(
              " {}", ref.empty() ? schema["type"].AsString() : ref.substr(ref.rfind('/') + 1));
          if (response.key() != "200") continue;
          for (const auto& type : content) line += fmt::format(" {}", type.key());
        }
        std::string upper(method);
        for (char& c : upper) c = static_cast<char>(c - 32);
        rendered[{std::string(path.key()), upper}] = line;
      }
    }
  }
  size_t differences = 0;
  for (const Value& fact : facts->operator[]("operations").items()) {
    std::string line = fmt::format("{} {}", fact["op"].AsString(), fact["action"].AsString());
    if (fact.Find("gvk")) line += fmt::format(" {}", fact["gvk"].AsString());
    for (const Value& one : facts->operator[]("querySets")[fact["query"].AsString()].items())
      line += fmt::format(" {}", one.AsString());
    for (const Value& one : facts->operator[]("consumes")[fact["consumes"].AsString()].items())
      line += fmt::format(" <{} {}", one.AsString(), fact["reqSchema"].AsString());
    for (const auto& response : fact["responses"].members()) {
      line += fmt::format(" >{}", response.key());
      if (response.value.is_null()) continue;
      line += fmt::format(" {}", response.value.AsString());
      if (response.key() != "200") continue;
      for (const Value& one : facts->operator[]("produces")[fact["produces"].AsString()].items())
        line += fmt::format(" {}", one.AsString());
    }
    const auto key =
        std::pair(std::string(fact["path"].AsString()), std::string(fact["method"].AsString()));
    const auto found = rendered.find(key);
    if (found == rendered.end() || found->second != line) {
      if (++differences <= 10)
        ADD_FAILURE() << key.second << " " << key.first << "\nrecorded " << line << "\nrendered "
                      << (found == rendered.end() ? "nothing" : found->second);
    }
    if (found != rendered.end()) rendered.erase(found);
  }
  EXPECT_TRUE(rendered.empty()) << rendered.size() << " more, first "
                                << rendered.begin()->first.first;
  const size_t recorded = facts->operator[]("operations").size();
  fmt::print("{} operations, {} differences\n", recorded, differences);
  EXPECT_EQ(recorded, 814u);
}

}  // namespace
}  // namespace keelson::schema
