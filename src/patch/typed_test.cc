#include "patch/typed.h"

#include <gtest/gtest.h>

#include "patch/test_types.h"

namespace keelson::patch {
namespace {

TestTypes types(R"(
Thing: metadata Meta, spec Spec, free any o, raw rawExtension o, odd Custom o
Meta: name string o, labels {}string o, finalizers []string= o
Spec: replicas int32 o p, ports []Port#port+protocol o, args []string! o, selector Selector o, ref Ref o, bare []Port o merge:port, items []Item#name o, flag bool o, when time o
Port: port int32 zd, protocol string o d="TCP", name string o
Selector atomic: match {}string o
Ref: name string o
Item: name string, value string o, sub Ref o p
Custom preserve: known string o
)");

class Typed : public testing::Test {
 protected:
  const schema::Type& type() { return types["Thing"]; }
  std::string SetText(FieldSet set) { return Text(schema::ToFieldsV1(*arena, set)); }
  FieldSet Set(std::string_view json) {
    documents.push_back(Parse(json));
    return *schema::ParseFieldsV1(*arena, documents.back().root());
  }
  Value Object(std::string_view json) {
    documents.push_back(Parse(json));
    return documents.back().root();
  }
  std::string Changes(std::string_view before, std::string_view after) {
    auto compared = Compare(*arena, type(), Object(before), Object(after));
    if (!compared) return compared.error().message;
    std::string text;
    if (!compared->removed.empty()) text += "-" + SetText(compared->removed);
    if (!compared->modified.empty()) text += "~" + SetText(compared->modified);
    if (!compared->added.empty()) text += "+" + SetText(compared->added);
    return text;
  }
  std::string Merged(std::string_view live, std::string_view config) {
    auto merged = MergeTyped(*arena, type(), Object(live), Object(config));
    return merged ? Text(*merged) : merged.error().message;
  }
  std::string Checked(std::string_view object, Duplicates duplicates = Duplicates::kRefused) {
    auto checked = CheckTyped(*arena, type(), Object(object), duplicates);
    return checked ? "" : checked.error().message;
  }

  value::ArenaRef arena = Arena::Make();
  std::vector<value::Document> documents;
};

TEST_F(Typed, CompareNamesLeavesItemsAndContainers) {
  EXPECT_EQ(Changes(R"({"spec":{"replicas":1}})", R"({"spec":{"replicas":2}})"),
            R"(~{"f:spec":{"f:replicas":{}}})");
  EXPECT_EQ(Changes("{}", R"({"spec":{"ports":[{"port":80}]}})"),
            R"(+{"f:spec":{".":{},"f:ports":{".":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":)"
            R"({".":{},"f:port":{}}}}})");
  EXPECT_EQ(
      Changes(R"({"metadata":{"finalizers":["a","b"]}})",
              R"({"metadata":{"finalizers":["b","c"]}})"),
      R"(-{"f:metadata":{"f:finalizers":{"v:\"a\"":{}}}}+{"f:metadata":{"f:finalizers":{"v:\"c\"":{}}}})");
}

TEST_F(Typed, AtomicValuesChangeWhole) {
  EXPECT_EQ(Changes(R"({"spec":{"args":["a"],"selector":{"match":{"a":"1"}}}})",
                    R"({"spec":{"args":["a","b"],"selector":{"match":{"a":"2"}}}})"),
            R"(~{"f:spec":{"f:args":{},"f:selector":{}}})");
  EXPECT_EQ(Changes(R"({"raw":{"a":1}})", R"({"raw":{"a":2}})"), R"(~{"f:raw":{}})");
}

TEST_F(Typed, UndeclaredPlacesFollowTheirValue) {
  EXPECT_EQ(Changes(R"({"free":{"a":{"b":1},"l":[1]}})", R"({"free":{"a":{"b":2},"l":[2]}})"),
            R"(~{"f:free":{"f:a":{"f:b":{}},"f:l":{}}})");
  EXPECT_EQ(Changes(R"({"free":"x"})", R"({"free":{"a":1}})"),
            R"(~{"f:free":{}}+{"f:free":{"f:a":{}}})");
  EXPECT_EQ(Changes(R"({"odd":{}})", R"({"odd":{"u":{"v":1}}})"),
            R"(+{"f:odd":{"f:u":{".":{},"f:v":{}}}})");
}

TEST_F(Typed, EmptyContainersAreLeaves) {
  EXPECT_EQ(Changes(R"({"metadata":{"labels":{}}})", R"({"metadata":{"labels":null}})"),
            R"(~{"f:metadata":{"f:labels":{}}})");
  EXPECT_EQ(Changes(R"({"metadata":{}})", R"({"metadata":{"labels":{}}})"),
            R"(+{"f:metadata":{"f:labels":{}}})");
}

TEST_F(Typed, RepeatedItemsAreComparedAsOne) {
  std::string_view twice = R"({"spec":{"items":[{"name":"a"},{"name":"a","value":"1"}]}})";
  std::string_view once = R"({"spec":{"items":[{"name":"a"}]}})";
  EXPECT_EQ(Changes(twice, twice), "");
  EXPECT_EQ(Changes(once, twice),
            R"(-{"f:spec":{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}})"
            R"(+{"f:spec":{"f:items":{"k:{\"name\":\"a\"}":{}}}})");
  EXPECT_EQ(SetText(ToFieldSet(*arena, type(), Object(twice))),
            R"({"f:spec":{"f:items":{"k:{\"name\":\"a\"}":{}}}})");
}

TEST_F(Typed, NumbersAreComparedByValue) {
  EXPECT_EQ(Changes(R"({"spec":{"replicas":1}})", R"({"spec":{"replicas":1.0}})"), "");
}

TEST_F(Typed, ItemsWithoutKeysCannotBeCompared) {
  EXPECT_EQ(Changes("{}", R"({"spec":{"items":[{"value":"x"}]}})"),
            ".spec.items: element 0: associative list with keys has an element that omits all key "
            "fields [\"name\"] (and doesn't have default values for any key fields)");
}

TEST_F(Typed, MergeKeepsConfigOrderAndLiveNeighbours) {
  EXPECT_EQ(Merged(R"({"metadata":{"finalizers":["a","b","c","d"]}})",
                   R"({"metadata":{"finalizers":["d","x","b"]}})"),
            R"({"metadata":{"finalizers":["a","c","d","x","b"]}})");
  EXPECT_EQ(
      Merged(R"({"spec":{"items":[{"name":"a","value":"1"},{"name":"b"}]}})",
             R"({"spec":{"items":[{"name":"c"},{"name":"a","sub":{"name":"s"}}]}})"),
      R"({"spec":{"items":[{"name":"c"},{"name":"a","sub":{"name":"s"},"value":"1"},{"name":"b"}]}})");
  EXPECT_EQ(Merged(R"({"spec":{"args":["a"],"bare":[{"port":1,"name":"x"}]}})",
                   R"({"spec":{"args":["b"],"bare":[{"port":1,"protocol":"UDP"}]}})"),
            R"({"spec":{"args":["b"],"bare":[{"name":"x","port":1,"protocol":"UDP"}]}})");
}

TEST_F(Typed, RemoveTakesItemsOutAndExtractKeepsOnlyThem) {
  std::string_view object =
      R"({"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"ports":[{"port":80,"name":"x"},{"port":81}],"args":["a"]}})";
  FieldSet set = Set(
      R"({"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:ports":)"
      R"({"k:{\"port\":81,\"protocol\":\"TCP\"}":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:name":{}}}}})");
  EXPECT_EQ(Text(RemoveItems(*arena, type(), Object(object), set)),
            R"({"metadata":{"labels":{"b":"2"}},"spec":{"args":["a"],"ports":[{"port":80}]}})");
  EXPECT_EQ(Text(ExtractItems(*arena, type(), Object(object), set)),
            R"({"metadata":{"labels":{"a":"1"}},"spec":{"ports":[{"name":"x"},{"port":81}]}})");
  EXPECT_EQ(Text(RemoveItems(*arena, type(), Object(R"({"metadata":{"labels":{"a":"1"}}})"), set)),
            R"({"metadata":{"labels":null}})");
}

TEST_F(Typed, FieldSetNamesLeavesItemsAndBareFields) {
  EXPECT_EQ(
      SetText(ToFieldSet(
          *arena, type(),
          Object(
              R"({"metadata":{"name":"n","labels":{}},"spec":{"ports":[{"port":1}],"selector":{"match":{}},"ref":null}})"))),
      R"({"f:metadata":{"f:labels":{},"f:name":{}},"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}},"f:ref":{},"f:selector":{}}})");
}

TEST_F(Typed, CheckSpeaksUpstreamsLanguage) {
  EXPECT_EQ(Checked(R"({"metadata":{"name":9}})"),
            ".metadata.name: expected string, got &value.valueUnstructured{Value:9}");
  EXPECT_EQ(Checked(R"({"spec":{"replicas":"x"}})"),
            ".spec.replicas: expected numeric (int or float), got string");
  EXPECT_EQ(Checked(R"({"spec":{"flag":1}})"), ".spec.flag: expected boolean, got &{1}");
  EXPECT_EQ(Checked(R"({"spec":{"when":[1]}})"), ".spec.when: expected any scalar, got &{[1]}");
  EXPECT_EQ(Checked(R"({"spec":{"args":"x"}})"), ".spec.args: expected list, got &{x}");
  EXPECT_EQ(Checked(R"({"spec":["x"]})"), ".spec: expected map, got &{[x]}");
  EXPECT_EQ(Checked(R"({"spec":{"bogus":1}})"), ".spec.bogus: field not declared in schema");
  EXPECT_EQ(Checked(R"({"spec":{"ports":[{"port":80},{"port":80}]}})"),
            ".spec.ports: duplicate entries for key [port=80,protocol=\"TCP\"]");
  EXPECT_EQ(Checked(R"({"spec":{"ports":[{"port":80},{"port":80}]}})", Duplicates::kAllowed), "");
  EXPECT_EQ(Checked(R"({"metadata":{"name":1},"spec":{"flag":2}})"),
            "errors:\n  .metadata.name: expected string, got &value.valueUnstructured{Value:1}\n"
            "  .spec.flag: expected boolean, got &{2}");
  EXPECT_EQ(Checked(R"({"free":[{"a":1}],"raw":{"x":[1]},"odd":{"u":1},"spec":{"when":"now"}})"),
            "");
}

TEST_F(Typed, NamedFieldsAreAddedAboveWhatIsOwned) {
  EXPECT_EQ(
      SetText(WithNamedFields(*arena, type(), Set(R"({"f:metadata":{"f:labels":{"f:a":{}}}})"))),
      R"({"f:metadata":{".":{},"f:labels":{".":{},"f:a":{}}}})");
}

TEST_F(Typed, ReconcilingReplacesWhatHasBecomeAtomic) {
  EXPECT_EQ(
      SetText(ReconcileWithType(
          *arena, type(),
          Set(R"({"f:spec":{"f:selector":{"f:match":{"f:a":{}}},"f:args":{"v:\"a\"":{}},"f:ports":{"k:{\"port\":1}":{"f:name":{}}}},"f:free":{"f:x":{"f:y":{}}}})"))),
      R"({"f:free":{"f:x":{"f:y":{}}},"f:spec":{"f:args":{},"f:ports":{"k:{\"port\":1}":{"f:name":{}}},"f:selector":{}}})");
  FieldSet same = Set(R"({"f:spec":{"f:replicas":{}}})");
  EXPECT_EQ(ReconcileWithType(*arena, type(), same).entries().data(), same.entries().data());
}

}  // namespace
}  // namespace keelson::patch
