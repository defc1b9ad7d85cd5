// The generator's output for two small files, compared with committed golden files, and the
// mistakes that only show when all files are seen together. KEELSON_GOLDEN=write renews the golden
// files.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "emit.h"

namespace keelson::apigen {
namespace {

std::string Read(const std::string& name) {
  std::ifstream in(std::string(APIGEN_TESTDATA) + "/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const char* mode = std::getenv("KEELSON_GOLDEN");
  if (mode && std::string_view(mode) == "write")
    std::ofstream(std::string(APIGEN_TESTDATA) + "/" + name) << text;
  EXPECT_EQ(text, Read(name)) << name;
}

std::vector<schema::ApiFile> Parse(const std::vector<std::string>& texts) {
  std::vector<schema::ApiFile> files;
  for (const std::string& text : texts) {
    auto file = schema::ParseApiFile("test.api", text);
    EXPECT_TRUE(file.has_value()) << file.error().message;
    if (file) files.push_back(*std::move(file));
  }
  return files;
}

std::string ErrorOf(const std::string& rest) {
  const auto files = Parse({Read("meta.v1.api"),
                            "api a.v1\n  group a\n  version v1\n"
                            "  package a.example/v1\n" +
                                rest});
  auto model = BuildModel(files);
  return model ? "" : model.error().message;
}

TEST(Apigen, WritesTheSameBytesEveryTime) {
  const auto files = Parse({Read("zoo.v1.api"), Read("meta.v1.api")});
  auto model = BuildModel(files);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const NameTable names(*model);
  const EmitOptions options{.cpp_namespace = "zoo::api", .include_dir = "zoo"};
  ExpectGolden("tables.cc.golden", EmitTables(*model, names, options));
  ExpectGolden("catalog.h.golden", EmitCatalogHeader(*model, names, options));
  auto header = EmitAccessors(*model, names, 0, options);
  ASSERT_TRUE(header.has_value());
  ExpectGolden("zoo_v1.h.golden", *header);
}

TEST(Apigen, ReportsNamesThatLeadNowhere) {
  EXPECT_EQ(ErrorOf("struct A\n  1  b  B\n"), "a.v1.api:6:9: no type B");
  EXPECT_EQ(ErrorOf("struct A\n  1  b  meta.v1.B\n"), "a.v1.api:6:9: no type meta.v1.B");
  EXPECT_EQ(ErrorOf("resource as A cluster\n"), "a.v1.api:5:1: A is not a kind of this file");
  EXPECT_EQ(ErrorOf("kind A\nresource as A cluster\n  sub x get body=B\n"),
            "a.v1.api:7:3: no type B");
}

TEST(Apigen, ReportsEmbeddingThatCannotBe) {
  EXPECT_EQ(ErrorOf("struct A\n  1  ...A\n"), "a.v1.api:5:1: A embeds itself");
  EXPECT_EQ(ErrorOf("struct A\n  1  x  string\n  2  ...B\nstruct B\n  1  x  string\n"),
            "a.v1.api:5:1: field x comes in twice");
  EXPECT_EQ(ErrorOf("struct A\n  1  ...B\nenum B x\n"),
            "a.v1.api:6:3: only a struct can be embedded");
}

TEST(Apigen, ReportsFactsThatDoNotFitTheType) {
  EXPECT_EQ(ErrorOf("struct A\n  1  x  string  set\n"),
            "a.v1.api:6:3: set and map(...) are for lists");
  EXPECT_EQ(ErrorOf("struct A\n  1  x  int32  =\"a\"\n"),
            "a.v1.api:6:3: default does not fit the type");
  EXPECT_EQ(ErrorOf("struct A\n  1  x  string  maxLength=a\n"),
            "a.v1.api:6:3: maxLength needs a whole number");
}

}  // namespace
}  // namespace keelson::apigen
