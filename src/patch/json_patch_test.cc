#include "patch/json_patch.h"

#include <gtest/gtest.h>

#include "patch/json_size.h"
#include "patch/test_types.h"

namespace keelson::patch {
namespace {

ApiResult<value::Document> Apply(std::string_view object, std::string_view patch) {
  auto document = Parse(patch);
  auto decoded = DecodeJsonPatch(document);
  if (!decoded) return std::unexpected(decoded.error());
  return ApplyJsonPatch(Parse(object), *decoded, document);
}
std::string Result(std::string_view object, std::string_view patch) {
  auto patched = Apply(object, patch);
  return patched ? Text(*patched) : fmt::format("{}", patched.error().code);
}

constexpr std::string_view kObject = R"({"a":{"b":[1,2,3]},"x/y":1,"m~n":2})";

TEST(JsonPatch, EachOperation) {
  EXPECT_EQ(Result(kObject, R"([{"op":"add","path":"/a/b/1","value":9}])"),
            R"({"a":{"b":[1,9,2,3]},"m~n":2,"x/y":1})");
  EXPECT_EQ(Result(kObject, R"([{"op":"add","path":"/a/b/-","value":{"c":null}}])"),
            R"({"a":{"b":[1,2,3,{"c":null}]},"m~n":2,"x/y":1})");
  EXPECT_EQ(Result(kObject, R"([{"op":"remove","path":"/a/b/0"},{"op":"remove","path":"/x~1y"}])"),
            R"({"a":{"b":[2,3]},"m~n":2})");
  EXPECT_EQ(Result(kObject, R"([{"op":"replace","path":"/m~0n","value":"z"}])"),
            R"({"a":{"b":[1,2,3]},"m~n":"z","x/y":1})");
  EXPECT_EQ(Result(kObject, R"([{"op":"move","from":"/a/b","path":"/c"}])"),
            R"({"a":{},"c":[1,2,3],"m~n":2,"x/y":1})");
  EXPECT_EQ(Result(kObject, R"([{"op":"copy","from":"/a/b/2","path":"/a/b/0"}])"),
            R"({"a":{"b":[3,1,2,3]},"m~n":2,"x/y":1})");
  EXPECT_EQ(Result(kObject, R"([{"op":"test","path":"/a","value":{"b":[1,2,3]}}])"),
            Text(Parse(kObject)));
  EXPECT_EQ(Result(kObject, R"([{"op":"test","path":"/a/b/0","value":2}])"), "422");
  EXPECT_EQ(Result(kObject, R"([{"op":"replace","path":"","value":{"n":1}}])"), R"({"n":1})");
}

TEST(JsonPatch, UpstreamsDeviationsAreKept) {
  EXPECT_EQ(Result(R"({"a":1})", R"([{"op":"replace","path":"/b","value":2}])"),
            R"({"a":1,"b":2})");
  EXPECT_EQ(Result(R"({"a":[1,2]})", R"([{"op":"replace","path":"/a/-1","value":9}])"),
            R"({"a":[1,9]})");
  EXPECT_EQ(Result(R"({"a":[1,2]})", R"([{"op":"add","path":"/a/-1","value":9}])"),
            R"({"a":[1,2,9]})");
  EXPECT_EQ(Result(R"({"a":1})", R"([{"op":"add","path":"ignored/b","value":2}])"),
            R"({"a":1,"b":2})");
  EXPECT_EQ(Result(R"({"a":1})", R"([{"op":"add","path":"/b"}])"), R"({"a":1,"b":null})");
  EXPECT_EQ(Result(R"({"a":1})", R"([{"op":"copy","from":"/none","path":"/b"}])"),
            R"({"a":1,"b":null})");
  EXPECT_EQ(Result(R"({"a":1})", R"([{"op":"test","path":"/none","value":null}])"), R"({"a":1})");
}

TEST(JsonPatch, WhatDoesNotApplyChangesNothing) {
  for (std::string_view patch :
       {R"([{"op":"bogus","path":"/a"}])", R"([{"op":"add"}])", R"([{"path":"/a"}])",
        R"([{"op":"remove","path":"/none"}])", R"([{"op":"add","path":"none","value":1}])",
        R"([{"op":"add","path":"/none/x","value":1}])", R"([{"op":"add","path":"/l/5","value":1}])",
        R"([{"op":"add","path":"/l/x","value":1}])", R"([{"op":"remove","path":"/l/-9"}])",
        R"([{"op":"replace","path":"/l/2","value":1}])",
        R"([{"op":"add","path":"/s/x","value":1}])", R"([{"op":"move","from":"/l","path":"/l/0"}])",
        R"([{"op":"move","path":"/l/0"}])", R"([{"op":"replace","path":"","value":3}])",
        R"([null])"}) {
    auto patched = Apply(R"({"a":1,"l":[1,2],"s":"t"})", patch);
    ASSERT_FALSE(patched.has_value()) << patch;
    EXPECT_EQ(patched.error().code, 422) << patch;
    EXPECT_EQ(patched.error().message,
              "the server rejected our request due to an error in our request");
  }
}

TEST(JsonPatch, DecodingErrorsAreUpstreams) {
  auto message = [](std::string_view patch) {
    return DecodeJsonPatch(Parse(patch)).error().message;
  };
  EXPECT_EQ(message(R"({"op":"add"})"),
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp");
  EXPECT_EQ(message(R"(["x"])"),
            "error decoding patch: json: cannot unmarshal string into Go value of type "
            "handlers.jsonPatchOp");
  EXPECT_EQ(message(R"([{"op":1}])"),
            "error decoding patch: json: cannot unmarshal number into Go struct field "
            "jsonPatchOp.op of type string");
  EXPECT_TRUE(DecodeJsonPatch(Parse("null"))->operations.empty());
  auto strict = DecodeJsonPatch(Parse(R"([{"op":"test","path":"/a","extra":1}])"));
  EXPECT_EQ(strict->strict_errors,
            std::vector<std::string>{R"(json patch unknown field "[0].extra")"});
}

TEST(JsonPatch, TooManyOperationsAreRefusedBeforeAnyRuns) {
  std::string patch = "[";
  for (size_t i = 0; i <= kMaxJsonPatchOperations; ++i) {
    patch += i ? ",{\"op\":\"test\"}" : "{\"op\":\"test\"}";
  }
  auto decoded = DecodeJsonPatch(Parse(patch + "]"));
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().code, 413);
  EXPECT_TRUE(decoded.error().message.contains(
      "The allowed maximum operations in a JSON patch is 10000, got 10001"));
}

TEST(JsonPatch, CopiesMayNotAmplify) {
  std::string patch = R"([{"op":"add","path":"/a","value":[")" + std::string(1000, 'x') + R"("]})";
  for (int i = 0; i < 40; ++i) patch += R"(,{"op":"copy","from":"/a","path":"/a/-"})";
  EXPECT_EQ(Result("{}", patch + "]"), "422");
}

TEST(JsonSize, CountsWhatTheEncoderWrites) {
  for (std::string_view text : {R"({"a":[1,-2.5,true,false,null,"x"],"b":{}})",
                                R"("a\"\\\n\u0001\u003c")", R"([])", R"([[],[1]])"}) {
    auto document = Parse(text);
    EXPECT_EQ(JsonSize(document.root(), 1000), Text(document).size()) << text;
  }
}

}  // namespace
}  // namespace keelson::patch
