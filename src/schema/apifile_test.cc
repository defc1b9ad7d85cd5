#include "schema/apifile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keelson::schema {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kHead =
    "api a.v1\n  group a.example\n  version v1\n  package a.example/a/v1\n";

Result<ApiFile> Parse(std::string_view rest) {
  return ParseApiFile("a.v1.api", std::string(kHead) + std::string(rest));
}

std::string ErrorOf(std::string_view rest) {
  auto file = Parse(rest);
  return file ? "" : file.error().message;
}

TEST(ApiFile, ReadsTheHead) {
  auto file = ParseApiFile("x",
                           "# comment\n\napi core.v1\n  group \"\"\n  version v1\n"
                           "  package k8s.io/api/core/v1\n  served\n  priority 18000 1\n");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->name, "core.v1");
  EXPECT_TRUE(file->versioned);
  EXPECT_EQ(file->group, "");
  EXPECT_EQ(file->package, "k8s.io/api/core/v1");
  EXPECT_TRUE(file->served);
  EXPECT_EQ(file->group_priority, 18000u);
}

TEST(ApiFile, ReadsFieldsWithAllTheirFacts) {
  auto file = Parse(
      "struct Probe atomic  // A check.\n"
      "   1  ...ProbeHandler\n"
      "   2  ports    [core.v1.Port]!   omitempty map(port,protocol) merge(port) retainKeys\n"
      "      // Above.\n"
      "   3  kind     string?   =\"TCP\" min=1 pattern=\"a \\\"b\\\\c\" gate=A,B\n"
      "   -  data     {[int32]}  // Values.\n");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_EQ(file->declarations.size(), 1u);
  const ApiDeclaration& probe = file->declarations[0];
  EXPECT_TRUE(probe.atomic);
  EXPECT_EQ(probe.description, "A check.");
  ASSERT_EQ(probe.fields.size(), 4u);
  EXPECT_TRUE(probe.fields[0].embedded);
  EXPECT_EQ(probe.fields[0].type.name, "ProbeHandler");
  const ApiField& ports = probe.fields[1];
  EXPECT_EQ(ports.number, 2u);
  EXPECT_TRUE(ports.required);
  EXPECT_TRUE(ports.omit_empty);
  EXPECT_EQ(ports.type.form, ApiTypeRef::Form::kList);
  EXPECT_EQ(ports.type.element[0].name, "core.v1.Port");
  EXPECT_THAT(ports.map_keys, ElementsAre("port", "protocol"));
  EXPECT_EQ(ports.merge_key, "port");
  EXPECT_TRUE(ports.merge && ports.retain_keys);
  const ApiField& kind = probe.fields[2];
  EXPECT_EQ(kind.description, "Above.");
  EXPECT_TRUE(kind.pointer);
  EXPECT_EQ(kind.default_json, "\"TCP\"");
  ASSERT_EQ(kind.constraints.size(), 2u);
  EXPECT_EQ(kind.constraints[1].value, "a \"b\\c");
  EXPECT_EQ(kind.gate, "A,B");
  const ApiField& data = probe.fields[3];
  EXPECT_EQ(data.number, 0u);
  EXPECT_EQ(data.type.form, ApiTypeRef::Form::kMap);
  EXPECT_EQ(data.type.element[0].form, ApiTypeRef::Form::kList);
  EXPECT_EQ(data.description, "Values.");
}

TEST(ApiFile, ReadsValuesOverSeveralLines) {
  auto file = Parse("enum Mode A \"b c\"\n    D\nstring UID go=types.UID\n");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_THAT(file->declarations[0].values, ElementsAre("A", "b c", "D"));
  EXPECT_EQ(file->declarations[1].go_name, "types.UID");
}

TEST(ApiFile, ReadsResources) {
  auto file = Parse(
      "resource pods Pod namespaced short=po,p categories=all\n"
      "  verbs    all\n"
      "  sub      proxy  create get  body=PodProxyOptions  connect path\n"
      "  columns  Name/name Desired:integer +\"Nominated Node\"\n"
      "  columns  \"Created At\":date/x\n"
      "  select   metadata.name spec.host=spec.nodeName\n"
      "  hash     \"a+b=\"\n");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const ApiResource& pods = file->resources.at(0);
  EXPECT_EQ(pods.singular, "pod");
  EXPECT_TRUE(pods.namespaced);
  EXPECT_THAT(pods.short_names, ElementsAre("po", "p"));
  EXPECT_EQ(pods.verbs.size(), 8u);
  ASSERT_EQ(pods.subresources.size(), 1u);
  EXPECT_THAT(pods.subresources[0].verbs, ElementsAre("create", "get"));
  EXPECT_TRUE(pods.subresources[0].connect && pods.subresources[0].path);
  ASSERT_EQ(pods.columns.size(), 4u);
  EXPECT_EQ(pods.columns[0].format, "name");
  EXPECT_EQ(pods.columns[1].type, "integer");
  EXPECT_EQ(pods.columns[2].name, "Nominated Node");
  EXPECT_TRUE(pods.columns[2].wide);
  EXPECT_EQ(pods.columns[3].type, "date");
  EXPECT_EQ(pods.columns[3].format, "x");
  EXPECT_EQ(pods.selectors[1].path, "spec.nodeName");
  EXPECT_EQ(pods.storage_hash, "a+b=");
}

TEST(ApiFile, ErrorsNameLineAndColumn) {
  EXPECT_EQ(ErrorOf("struct A\n  1  b  strin\n"), "a.v1.api:6:9: 'strin' is not a type");
  EXPECT_EQ(ErrorOf("struct A\n  x  b  string\n"), "a.v1.api:6:3: not a number 'x'");
  EXPECT_EQ(ErrorOf("struct A\n  1  b  string  atomc\n"),
            "a.v1.api:6:17: unknown attribute 'atomc'");
  EXPECT_EQ(ErrorOf("struct A\n  1  b  string\n  1  c  string\n"),
            "a.v1.api:7:3: number used twice '1'");
  EXPECT_EQ(ErrorOf("struct A\n  1  b  string\n  2  b  string\n"),
            "a.v1.api:7:6: field declared twice 'b'");
  EXPECT_EQ(ErrorOf("struct A\nstruct A\n"), "a.v1.api:6:8: type declared twice 'A'");
  EXPECT_EQ(ErrorOf("  x\n"), "a.v1.api:5:3: unknown or incomplete property 'x'");
  EXPECT_EQ(ErrorOf("thing A\n"), "a.v1.api:5:1: unknown declaration 'thing'");
  EXPECT_EQ(ErrorOf("struct A  \"\n"), "a.v1.api:5:11: quote or parenthesis is not closed");
  EXPECT_EQ(ErrorOf("resource a A somewhere\n"), "a.v1.api:5:14: unknown scope 'somewhere'");
  EXPECT_EQ(ErrorOf("resource a A cluster  // No.\n"),
            "a.v1.api:5:1: nothing here to be described");
}

TEST(ApiFile, RefusesWhatPassesItsLimits) {
  EXPECT_FALSE(ParseApiFile("big", std::string(kMaxApiFileBytes + 1, ' ')).has_value());
  EXPECT_FALSE(Parse(std::string(kMaxApiLineBytes + 1, 'x')).has_value());
  const std::string deep(kMaxApiTypeDepth + 2, '[');
  EXPECT_FALSE(
      Parse("struct A\n  1  b  " + deep + "string" + std::string(deep.size(), ']')).has_value());
}

}  // namespace
}  // namespace keelson::schema
