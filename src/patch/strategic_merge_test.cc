#include "patch/strategic_merge.h"

#include <gtest/gtest.h>

#include "patch/test_types.h"

namespace keelson::patch {
namespace {

TestTypes types(R"(
Pod: metadata Meta, spec Spec
Meta: name string o, labels {}string o, finalizers []string o merge, owners []Owner o merge:uid
Owner: uid string, name string
Spec: containers []Container merge:name, volumes []Volume o merge:name retain, args []string! o, strategy Strategy o retain, selector Selector o replace, tolerations []Toleration! o
Container: name string, image string o, ports []Port o merge:port, env []Env o merge:name
Port: port int32, protocol string o
Env: name string, value string o
Volume: name string, empty Empty o p, host Empty o p
Empty: path string o
Strategy: type string o, rolling Empty o p
Selector: a string o, b string o
Toleration: key string o
Loose: items []Env o merge
)");

ApiResult<value::Document> Apply(std::string_view object, std::string_view patch,
                                 std::string_view type = "Pod") {
  return ApplyStrategicMergePatch(Parse(object), Parse(patch), types[type]);
}
std::string Result(std::string_view object, std::string_view patch, std::string_view type = "Pod") {
  auto merged = Apply(object, patch, type);
  return merged ? Text(*merged) : fmt::format("{} {}", merged.error().code, merged.error().message);
}

constexpr std::string_view kPod =
    R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"},{"name":"c"}]}})";

TEST(StrategicMerge, KeyedListsMergeItemByItemAndNewItemsFollow) {
  EXPECT_EQ(Result(kPod, R"({"spec":{"containers":[{"name":"b","image":"9"},{"name":"d"}]}})"),
            R"({"spec":{"containers":[{"image":"1","name":"a"},{"image":"9","name":"b"},)"
            R"({"name":"d"},{"name":"c"}]}})");
}

TEST(StrategicMerge, DirectivesDeleteAndReplaceItems) {
  EXPECT_EQ(Result(kPod, R"({"spec":{"containers":[{"name":"b","$patch":"delete"}]}})"),
            R"({"spec":{"containers":[{"image":"1","name":"a"},{"name":"c"}]}})");
  EXPECT_EQ(Result(kPod, R"({"spec":{"containers":[{"name":"z"},{"$patch":"replace"}]}})"),
            R"({"spec":{"containers":[{"name":"z"}]}})");
  EXPECT_EQ(Result(kPod, R"({"spec":{"$patch":"replace","args":["x"]}})"),
            R"({"spec":{"args":["x"]}})");
  EXPECT_EQ(Result(kPod, R"({"spec":{"$patch":"delete"}})"), R"({"spec":{}})");
}

TEST(StrategicMerge, ElementOrderIsObeyed) {
  EXPECT_EQ(Result(kPod, R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]}})"),
            R"({"spec":{"containers":[{"image":"2","name":"b"},{"name":"c"},)"
            R"({"image":"1","name":"a"}]}})");
  EXPECT_EQ(
      Result(R"({"metadata":{"finalizers":["a","b","c"]}})",
             R"({"metadata":{"finalizers":["d"],"$setElementOrder/finalizers":["c","d","a"]}})"),
      R"({"metadata":{"finalizers":["b","c","d","a"]}})");
}

TEST(StrategicMerge, ScalarListsJoinAndDelete) {
  EXPECT_EQ(Result(R"({"metadata":{"finalizers":["a","b"]}})",
                   R"({"metadata":{"finalizers":["b","c"]}})"),
            R"({"metadata":{"finalizers":["a","b","c"]}})");
  EXPECT_EQ(Result(R"({"metadata":{"finalizers":["a","b"]}})",
                   R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})"),
            R"({"metadata":{"finalizers":["b"]}})");
  // Repetitions go, the last item fills the gap, and what live has not seen goes first.
  EXPECT_EQ(Result(R"({"metadata":{"finalizers":["a","a","b"]}})",
                   R"({"metadata":{"finalizers":["c"]}})"),
            R"({"metadata":{"finalizers":["c","a","b"]}})");
}

TEST(StrategicMerge, StrategiesOfFields) {
  EXPECT_EQ(Result(R"({"spec":{"args":["a"],"selector":{"a":"1"}}})",
                   R"({"spec":{"args":["b"],"selector":{"b":"2"}}})"),
            R"({"spec":{"args":["b"],"selector":{"b":"2"}}})");
  EXPECT_EQ(Result(R"({"spec":{"strategy":{"type":"R","rolling":{"path":"x"}}}})",
                   R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"C"}}})"),
            R"({"spec":{"strategy":{"type":"C"}}})");
  EXPECT_EQ(
      Result(R"({"spec":{"volumes":[{"name":"v","empty":{}}]}})",
             R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","host"],"host":{}}]}})"),
      R"({"spec":{"volumes":[{"host":{},"name":"v"}]}})");
}

TEST(StrategicMerge, NullsDeleteAndNewValuesLoseNullsAndDirectives) {
  EXPECT_EQ(Result(R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
                   R"({"metadata":{"labels":{"a":null,"c":null}}})"),
            R"({"metadata":{"labels":{"b":"2"}}})");
  EXPECT_EQ(Result(R"({})", R"({"spec":{"containers":[{"name":"a","image":null},)"
                            R"({"name":"b","$patch":"delete"}]}})"),
            R"({"spec":{"containers":[{"name":"a"}]}})");
  EXPECT_EQ(Result(kPod, "null"), Text(Parse(kPod)));
}

TEST(StrategicMerge, ErrorsAreUpstreams) {
  EXPECT_EQ(Result(kPod, R"({"$patch":"bogus"})"),
            "500 unknown patch type: bogus in map: map[$patch:bogus]");
  EXPECT_EQ(Result(kPod, R"({"spec":{"containers":[{"image":"x"}]}})"),
            "500 map: map[image:x] does not contain declared merge key: name");
  EXPECT_EQ(Result(kPod, R"({"spec":{"containers":[{"name":"c","$patch":"bogus"}]}})"),
            "500 unknown patch type: bogus in map: map[$patch:bogus name:c]");
  EXPECT_EQ(Result(kPod, R"({"spec":{"$setElementOrder/containers":[{"name":"zz"}],)"
                         R"("containers":[{"name":"c","image":"x"}]}})"),
            "500 The order in patch list:\n[map[image:x name:c]]\n doesn't match $setElementOrder "
            "list:\n[map[name:zz]]\n");
  EXPECT_EQ(Result(kPod, R"({"$setElementOrder/metadata":["a"]})"),
            "500 expected slice or array type, but got: struct");
  EXPECT_EQ(Result(kPod, R"({"spec":{"$retainKeys":"x"}})"),
            "400 invalid patch format of retainKeys");
  EXPECT_EQ(Result(kPod, R"({"spec":{"$retainKeys":["args"],"containers":[]}})"),
            "400 invalid patch format of retainKeys");
  EXPECT_EQ(Result(R"({"metadata":{"finalizers":["a"]}})",
                   R"({"metadata":{"$deleteFromPrimitiveList":["a"]}})"),
            "400 invalid patch format of primitive list");
  EXPECT_EQ(Result(kPod, R"({"$setElementOrder":[]})"),
            "400 invalid patch format of setElementOrder list");
  EXPECT_EQ(
      Result(R"({"metadata":{"finalizers":[["a"]]}})", R"({"metadata":{"finalizers":[["b"]]}})"),
      "422 the server rejected our request due to an error in our request");
  EXPECT_EQ(Result(R"({"metadata":{"finalizers":["a"]}})", R"({"metadata":{"finalizers":[1]}})"),
            "500 list element types are not identical: [[a] [1]]");
  EXPECT_EQ(Result(R"({"items":[{"name":"a"}]})", R"({"items":[{"name":"b"}]})", "Loose"),
            "500 cannot merge lists without merge key for struct");
  EXPECT_EQ(Result(R"({"x":{"a":1}})", R"({"x":{"b":1}})"),
            "500 unable to find api field in struct Pod for the json field \"x\"");
  EXPECT_EQ(Result(R"({"metadata":{"labels":{"a":{}}}})", R"({"metadata":{"labels":{"a":{}}}})"),
            "500 merging an object in json but data type is not struct, instead is: map");
  EXPECT_EQ(Result("{}", "[]"),
            "400 json: cannot unmarshal array into Go value of type map[string]interface {}");
  EXPECT_EQ(StrategicMergeUnsupportedStatus().message,
            "strategic merge patch format is not supported");
}

TEST(StrategicMerge, LargeListsCostLittleMoreThanTheirSize) {
  std::string live = R"({"metadata":{"owners":[)";
  std::string patch = live;
  constexpr int kCount = 5000;
  for (int i = 0; i < kCount; ++i) {
    live += fmt::format("{}{{\"uid\":\"{}\"}}", i ? "," : "", i);
    patch += fmt::format("{}{{\"uid\":\"{}\",\"name\":\"n\"}}", i ? "," : "", kCount - i);
  }
  auto merged = Apply(live + "]}}", patch + "]}}");
  EXPECT_EQ(merged->root()["metadata"]["owners"].size(), kCount + 1u);
}

}  // namespace
}  // namespace keelson::patch
