#include "value/yaml.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace keelson::value {
namespace {

std::string Json(std::string_view yaml) {
  auto json = YamlToJson(yaml);
  return json ? *json : json.error().message;
}

TEST(Yaml, ResolvesScalarsByTheRulesOfYaml11) {
  EXPECT_EQ(Json("[yes, No, on, OFF, y, n, true, False]"),
            "[true,false,true,false,true,false,true,false]");
  EXPECT_EQ(Json("[~, null, Null]"), "[null,null,null]");
  EXPECT_EQ(Json("[1, -2, +3, 0x1F, 0o17, 017, 0b101, 1_000, 08]"), "[1,-2,3,31,15,15,5,1000,8]");
  EXPECT_EQ(Json("[1.5, .5, 1e3, 1., -0.25, 1:30, 12e]"), R"([1.5,0.5,1000,1,-0.25,"1:30","12e"])");
  EXPECT_EQ(Json("[\"yes\", '1', !!str 5, !!float 5, 2024-01-02, yesterday]"),
            R"(["yes","1","5",5,"2024-01-02","yesterday"])");
  EXPECT_EQ(Json("a: .inf"), "json: unsupported value: +Inf");
}

TEST(Yaml, KeysBecomeSortedStrings) {
  EXPECT_EQ(Json("b: 1\na: 2\n3: x\ntrue: z\n"), R"({"3":"x","a":2,"b":1,"true":"z"})");
  EXPECT_EQ(Json(""), "null");
  EXPECT_EQ(Json("# only a comment\n"), "null");
  EXPECT_EQ(Json("a: 1\n---\nb: 2\n"), R"({"a":1})");
}

TEST(Yaml, TakesBlocksFlowsAndJson) {
  EXPECT_EQ(Json("a:\n- x\n- w: {z: [1, 2]}\nb: |\n  line\n  two\nc: >-\n  folded\n  text\n"),
            R"({"a":["x",{"w":{"z":[1,2]}}],"b":"line\ntwo\n","c":"folded text"})");
  EXPECT_EQ(Json(R"({"a":[1,"<"],"b":null})"), R"({"a":[1,"\u003c"],"b":null})");
}

TEST(Yaml, FollowsAliasesAndMerges) {
  EXPECT_EQ(Json("a: &x {k: 1}\nb: *x\nc:\n  <<: *x\n  l: 2\n"),
            R"({"a":{"k":1},"b":{"k":1},"c":{"k":1,"l":2}})");
  EXPECT_EQ(Json("a: *x"), "yaml: unknown anchor 'x' referenced");
  EXPECT_EQ(Json("a: &x [*x]"), "yaml: anchor 'x' value contains itself");
  EXPECT_EQ(Json("<<: 1"), "yaml: map merge requires map or sequence of maps as the value");
}

TEST(Yaml, RefusesDocumentsThatAliasesBlowUp) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += fmt::format("a{}: &a{} [", i, i);
    for (int j = 0; j < 10; ++j) bomb += fmt::format("{}*a{}", j ? "," : "", i - 1);
    bomb += "]\n";
  }
  EXPECT_EQ(Json(bomb), "yaml: document contains excessive aliasing");
}

TEST(Yaml, ErrorsAreUpstreams) {
  EXPECT_EQ(Json("a: b: c: ["), "yaml: mapping values are not allowed in this context");
  EXPECT_EQ(Json("a: b\n  c: d\n"), "yaml: line 2: mapping values are not allowed in this context");
  EXPECT_EQ(Json("a: [1\n"), "yaml: line 1: did not find expected ',' or ']'");
  EXPECT_EQ(Json("a: \"x\n"), "yaml: line 2: found unexpected end of stream");
  EXPECT_EQ(Json("\ta: b"), "yaml: found character that cannot start any token");
}

TEST(Yaml, ReportsKeysGivenTwice) {
  std::vector<std::string> duplicates;
  auto json = YamlToJson("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fv\n  name: other\n",
                         {.duplicates = &duplicates});
  EXPECT_EQ(*json, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fv"}})");
  EXPECT_EQ(duplicates, std::vector<std::string>{"line 5: key \"name\" already set in map"});
  EXPECT_EQ(Json("a: 1\na: 2\n"), R"({"a":2})");
}

TEST(Yaml, RefusesWhatIsNestedTooDeep) {
  EXPECT_FALSE(YamlToJson(std::string(20000, '[')).has_value());
}

// Each string as the value of a key, as upstream's server answers it.
TEST(ToYaml, QuotesWhatWouldReadAsSomethingElse) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"plain", "plain"},
      {"it's", "it's"},
      {"x,y", "x,y"},
      {"x]", "x]"},
      {":a", ":a"},
      {"?x", "?x"},
      {"-x", "-x"},
      {"=", "="},
      {"<<", "<<"},
      {"1e", "1e"},
      {"x#y", "x#y"},
      {"a\\b", "a\\b"},
      {"\xC3\xBC", "\xC3\xBC"},
      // Not plain text by the rules of the layout: in single quotes.
      {"`x", "'`x'"},
      {"[x", "'[x'"},
      {"a:", "'a:'"},
      {"? x", "'? x'"},
      {"-", "'-'"},
      {"- x", "'- x'"},
      {"--- x", "'--- x'"},
      {"...", "'...'"},
      {"|x", "'|x'"},
      {" lead", "' lead'"},
      {"trail ", "'trail '"},
      {"a: b", "'a: b'"},
      {"a #b", "'a #b'"},
      {"#x", "'#x'"},
      {"*x", "'*x'"},
      {"@x", "'@x'"},
      {"\"q\"", "'\"q\"'"},
      // Would be a number, a boolean, null or a time: in double quotes.
      {"true", "\"true\""},
      {"yes", "\"yes\""},
      {"y", "\"y\""},
      {"1", "\"1\""},
      {"-1", "\"-1\""},
      {"1e3", "\"1e3\""},
      {"1.", "\"1.\""},
      {".5", "\".5\""},
      {".inf", "\".inf\""},
      {"0777", "\"0777\""},
      {"0x1F", "\"0x1F\""},
      {"0b11", "\"0b11\""},
      {"0o17", "\"0o17\""},
      {"1_000", "\"1_000\""},
      {"12:30", "\"12:30\""},
      {"null", "\"null\""},
      {"Null", "\"Null\""},
      {"~", "\"~\""},
      {"", "\"\""},
      {"2026-01-01", "\"2026-01-01\""},
      {"2026-01-01T00:00:00Z", "\"2026-01-01T00:00:00Z\""},
      // What is not printable, or has blanks at the ends of lines.
      {"tab\there", "\"tab\\there\""},
      {"\x01x", "\"\\x01x\""},
      {"a\r\nb", "\"a\\r\\nb\""},
      {"\xF0\x9F\x98\x80", "\"\\U0001F600\""},
      {" \n x", "\" \\n x\""},
      {"trail \nx", "\"trail \\nx\""},
      // Lines.
      {"multi\nline\n", "|\n  multi\n  line"},
      {"multi\nline", "|-\n  multi\n  line"},
      {"x\n y\n", "|\n  x\n   y"},
      {"\nx", "|2-\n\n  x"},
  };
  for (const auto& [text, yaml] : kCases) {
    const std::string json = "{\"k\":" + ToJson(Value::String(text)) + "}";
    EXPECT_EQ(ToYaml(ParseJson(json)->root()), "k: " + std::string(yaml) + "\n") << text;
  }
}

TEST(ToYaml, LaysOutObjectsAndSortsTheirKeys) {
  auto document = ParseJson(
      R"({"k10":1,"k9":-0.5,"b":{},"a":[],"list":[{"y":true,"x":null},[1,[2]],"s"],"f:z":{".":{}},"n":1e21,"A":"b"})");
  EXPECT_EQ(ToYaml(document->root()),
            "A: b\n"
            "a: []\n"
            "b: {}\n"
            "f:z:\n"
            "  .: {}\n"
            "k9: -0.5\n"
            "k10: 1\n"
            "list:\n"
            "- x: null\n"
            "  \"y\": true\n"
            "- - 1\n"
            "  - - 2\n"
            "- s\n"
            "\"n\": 1e+21\n");
}

TEST(ToYaml, FoldsLongText) {
  std::string text = "word";
  for (int i = 0; i < 30; ++i) text += " word";
  const auto yaml = ToYaml(ParseJson("{\"k\":\"" + text + "\"}")->root());
  EXPECT_EQ(yaml.find("\n  word"), 82u);
}

}  // namespace
}  // namespace keelson::value
