#include "patch/ownership.h"

#include <gtest/gtest.h>

#include "patch/last_applied.h"
#include "patch/test_types.h"

namespace keelson::patch {
namespace {

using value::Document;

TestTypes types(R"(
ConfigMap: apiVersion string o, kind string o, metadata Meta, data {}string o
Meta: name string o, namespace string o, uid string o, generation int64 o, labels {}string o, annotations {}string o, finalizers []string= o, managedFields []Entry! o
Entry: manager string o, operation string o, apiVersion string o, time time o p, fieldsType string o, fieldsV1 fieldsV1 o p, subresource string o
Deployment: apiVersion string o, kind string o, metadata Meta, spec Spec, status Status
Spec: replicas int32 o p, ports []Port#port o, template Template
Port: port int32 zd, name string o
Template: image string o
Status: ready int32 o
DeploymentV2: apiVersion string o, kind string o, metadata Meta, spec SpecV2
SpecV2: size int32 o p
)");

// A small world: one object, and writers that come and go. The clock moves a second per write.
class Ownerships : public testing::Test {
 protected:
  static OwnershipOptions Options(std::string_view type, std::string_view group,
                                  std::string subresource = "") {
    OwnershipOptions options;
    options.type = &types[type];
    options.kind = {group, "v1", type};
    options.subresource = std::move(subresource);
    return options;
  }

  void Write(std::string_view manager, std::string_view object) {
    Document base = live.root().is_null() ? ownership.NewObject() : live;
    Store(ownership.Update(base, Parse(object), manager, Tick()));
  }
  // What the object answers, or the error.
  std::string Apply(std::string_view manager, std::string_view config, bool force = false) {
    Document base = live.root().is_null() ? ownership.NewObject() : live;
    auto applied = ownership.Apply(base, Parse(config), manager, force, Tick());
    if (!applied) {
      last_error = applied.error();
      return fmt::format("{} {}", applied.error().code, applied.error().message);
    }
    Store(*applied);
    return Text(live.root()["data"]);
  }
  // The server gives a stored object its identity.
  void Store(const Document& object) {
    value::Builder builder(object);
    builder.root().Field("metadata").SetField("uid", Value::String("u"));
    live = std::move(builder).Finish();
  }
  std::string Owners() {
    std::string text;
    Value entries = live.root()["metadata"]["managedFields"];
    for (const Value& entry : entries.items()) {
      text += fmt::format(
          "{}{} {}{} {}", text.empty() ? "" : "; ", entry["manager"].AsString(),
          entry["operation"].AsString(),
          entry["subresource"].is_null() ? "" : fmt::format("/{}", entry["subresource"].AsString()),
          Text(entry["fieldsV1"]));
    }
    return text;
  }
  std::string TimeOf(std::string_view manager) {
    Value entries = live.root()["metadata"]["managedFields"];
    for (const Value& entry : entries.items()) {
      if (entry["manager"].AsString() == manager) return std::string(entry["time"].AsString());
    }
    return "absent";
  }
  WallTime Tick() { return WallTime(std::chrono::seconds(1767225600 + ticks++)); }

  Ownership ownership{Options("ConfigMap", "")};
  Document live;
  int ticks = 0;
  Status last_error;
};

std::string Config(std::string_view data, std::string_view labels = "") {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"n"{}}},"data":{}}})",
      labels.empty() ? "" : fmt::format(R"(,"labels":{})", labels), data);
}

TEST_F(Ownerships, CreatorOwnsWhatItSetButNotTheObjectsIdentity) {
  Write("tool", Config(R"({"a":"1"})", R"({"l":"1"})"));
  EXPECT_EQ(
      Owners(),
      R"(tool Update {"f:data":{".":{},"f:a":{}},"f:metadata":{"f:labels":{".":{},"f:l":{}}}})");
  EXPECT_EQ(TimeOf("tool"), "2026-01-01T00:00:00Z");
}

TEST_F(Ownerships, AnUpdateTakesOnlyWhatItChanges) {
  Write("tool", Config(R"({"a":"1","b":"2"})"));
  Write("other", Config(R"({"a":"1","b":"3","c":"4"})"));
  EXPECT_EQ(
      Owners(),
      R"(tool Update {"f:data":{".":{},"f:a":{}}}; other Update {"f:data":{"f:b":{},"f:c":{}}})");
  Write("third", Config(R"({"b":"3","c":"4"})"));
  EXPECT_EQ(Owners(), R"(tool Update {"f:data":{}}; other Update {"f:data":{"f:b":{},"f:c":{}}})");
}

TEST_F(Ownerships, AWriteWithoutChangeMovesNoTime) {
  Write("tool", Config(R"({"a":"1"})"));
  Write("tool", Config(R"({"a":"1"})"));
  EXPECT_EQ(TimeOf("tool"), "2026-01-01T00:00:00Z");
  Write("tool", Config(R"({"a":"2"})"));
  EXPECT_EQ(TimeOf("tool"), "2026-01-01T00:00:02Z");
}

TEST_F(Ownerships, ApplyConflictsWithOtherOwnersOfDifferentValues) {
  EXPECT_EQ(Apply("m1", Config(R"({"a":"1"})")), R"({"a":"1"})");
  EXPECT_EQ(Apply("m2", Config(R"({"a":"2"})")),
            "409 Apply failed with 1 conflict: conflict with \"m1\": .data.a");
  ASSERT_EQ(last_error.details->causes.size(), 1u);
  EXPECT_EQ(last_error.details->causes[0],
            (StatusCause{"FieldManagerConflict", "conflict with \"m1\"", ".data.a"}));
  EXPECT_EQ(Apply("m2", Config(R"({"a":"1"})")), R"({"a":"1"})");
  EXPECT_EQ(Owners(), R"(m2 Apply {"f:data":{"f:a":{}}}; m1 Apply {"f:data":{"f:a":{}}})");
  EXPECT_EQ(TimeOf("m2"), "");
  EXPECT_EQ(Apply("m2", Config(R"({"a":"2","b":"3"})"), true), R"({"a":"2","b":"3"})");
  EXPECT_EQ(Owners(), R"(m2 Apply {"f:data":{"f:a":{},"f:b":{}}})");
  Write("upd", Config(R"({"a":"2","b":"upd"})"));
  EXPECT_EQ(Apply("m3", Config(R"({"a":"x","b":"y"})")),
            "409 Apply failed with 2 conflicts: conflicts with \"m2\":\n- .data.a\nconflicts with "
            "\"upd\" using v1:\n- .data.b");
}

TEST_F(Ownerships, WhatIsNoLongerAppliedGoesUnlessSomebodyElseOwnsIt) {
  Apply("m1", Config(R"({"a":"1","b":"2","c":"3"})"));
  Apply("m2", Config(R"({"b":"2"})"));
  EXPECT_EQ(Apply("m1", Config(R"({"a":"1"})")), R"({"a":"1","b":"2"})");
  EXPECT_EQ(Apply("m2", Config("{}")), R"({"a":"1"})");
  EXPECT_EQ(Apply("m1", Config("null")), "null");
}

TEST_F(Ownerships, UpdatedFieldsSurviveTheirApplier) {
  Apply("m1", Config(R"({"a":"1","b":"2"})"));
  Write("upd", Config(R"({"a":"9","b":"2"})"));
  EXPECT_EQ(Apply("m1", Config(R"({"b":"2"})")), R"({"a":"9","b":"2"})");
}

TEST_F(Ownerships, FirstApplyRecordsWhatWasThereBefore) {
  live = Parse(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n","uid":"u"},"data":{"e":"1"}})");
  Write("tool", Config(R"({"e":"1","f":"2"})"));
  EXPECT_EQ(Owners(), "");
  EXPECT_EQ(Apply("app", Config(R"({"e":"1"})")), R"({"e":"1","f":"2"})");
  EXPECT_EQ(
      Owners(),
      R"(app Apply {"f:data":{"f:e":{}}}; before-first-apply Update {"f:data":{".":{},"f:e":{},"f:f":{}}})");
}

TEST_F(Ownerships, ClientsMayForgetOrResetOwners) {
  Write("tool", Config(R"({"a":"1"})"));
  std::string owners = Owners();
  Write("tool", Config(R"({"a":"1"})"));  // without managedFields
  EXPECT_EQ(Owners(), owners);
  for (std::string_view reset : {"[]", "[{}]"}) {
    Write("tool", Config(R"({"a":"2"})"));
    Write("tool",
          fmt::format(R"({{"metadata":{{"name":"n","managedFields":{}}},"data":{{"a":"3"}}}})",
                      reset));
    EXPECT_EQ(Owners(), "") << reset;
  }
}

TEST_F(Ownerships, UnreadableEntriesFallBackToTheStoredOnes) {
  Write("tool", Config(R"({"a":"1"})"));
  Write(
      "tool",
      R"({"metadata":{"name":"n","managedFields":[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"bad":{}}}]},"data":{"a":"1"}})");
  EXPECT_EQ(Owners(), R"(tool Update {"f:data":{".":{},"f:a":{}}})");
  live = Parse(R"({"metadata":{"uid":"u","managedFields":[{"operation":"Bogus"}]}})");
  EXPECT_EQ(Apply("m", Config("{}")),
            "500 failed to decode managed fields: operation must be `Apply` or `Update`");
}

TEST_F(Ownerships, SubresourcesHaveEntriesOfTheirOwn) {
  Ownership main(Options("Deployment", "apps"));
  Ownership status(Options("Deployment", "apps", "status"));
  auto object = main.Update(
      main.NewObject(), Parse(R"({"spec":{"replicas":1,"template":{"image":"i"}},"status":{}})"),
      "tool", Tick());
  Store(object);
  live = status.Update(
      live,
      Parse(
          R"({"metadata":{"uid":"u","managedFields":[{}]},"spec":{"replicas":1,"template":{"image":"i"}},"status":{"ready":1}})"),
      "ctl", Tick());
  EXPECT_EQ(
      Owners(),
      R"(tool Update {"f:spec":{"f:replicas":{},"f:template":{"f:image":{}}}}; ctl Update/status {"f:status":{"f:ready":{}}})");
  auto conflict = status.Apply(
      live, Parse(R"({"apiVersion":"apps/v1","kind":"Deployment","status":{"ready":2}})"), "m",
      false, Tick());
  ASSERT_FALSE(conflict.has_value());
  conflict = main.Apply(
      live, Parse(R"({"apiVersion":"apps/v1","kind":"Deployment","status":{"ready":2}})"), "m",
      false, Tick());
  EXPECT_EQ(conflict.error().message,
            "Apply failed with 1 conflict: conflict with \"ctl\" with subresource \"status\" using "
            "apps/v1: .status.ready");
}

TEST_F(Ownerships, FiltersKeepFieldsFromBeingOwned) {
  auto arena = value::Arena::Make();
  auto options = Options("Deployment", "apps");
  schema::PathElement status[] = {schema::PathElement::Field("status")};
  options.filters["apps/v1"] = FieldFilter::Exclude(SinglePath(*arena, status));
  Ownership main(options);
  Store(main.Update(main.NewObject(),
                    Parse(R"({"spec":{"replicas":1,"template":{}},"status":{"ready":1}})"), "t",
                    Tick()));
  EXPECT_EQ(Owners(), R"(t Update {"f:spec":{"f:replicas":{}}})");
  options.filters["apps/v1"] = FieldFilter::Include({{"spec", "ports", "*", "name"}});
  Ownership only_names(options);
  Store(only_names.Update(
      only_names.NewObject(),
      Parse(R"({"spec":{"replicas":1,"ports":[{"port":1,"name":"x"}],"template":{}},"status":{}})"),
      "t", Tick()));
  EXPECT_EQ(Owners(),
            R"(t Update {"f:spec":{"f:ports":{".":{},"k:{\"port\":1}":{".":{},"f:name":{}}}}})");
}

TEST_F(Ownerships, OldUpdatesAreJoined) {
  std::string data;
  for (int i = 0; i < 12; ++i) {
    data += fmt::format("{}\"k{:02}\":\"1\"", i ? "," : "", i);
    Write(fmt::format("m{:02}", i), Config("{" + data + "}"));
  }
  Value entries = live.root()["metadata"]["managedFields"];
  EXPECT_EQ(entries.size(), 10u);
  EXPECT_EQ(entries.At(0)["manager"].AsString(), "ancient-changes");
  EXPECT_EQ(Text(entries.At(0)["fieldsV1"]),
            R"({"f:data":{".":{},"f:k00":{},"f:k01":{},"f:k02":{}}})");
  EXPECT_EQ(entries.At(0)["time"].AsString(), "2026-01-01T00:00:02Z");
}

TEST_F(Ownerships, ConfigurationOfAnotherKindIsRefused) {
  EXPECT_EQ(Apply("m", R"({"apiVersion":"v1","kind":"Secret"})"),
            "400 invalid object type: /v1, Kind=Secret");
  EXPECT_EQ(Apply("m", R"({"kind":"ConfigMap"})"), "400 invalid object type: /, Kind=ConfigMap");
  EXPECT_EQ(Apply("m", R"({"apiVersion":"a/b/c","kind":"ConfigMap"})"),
            "400 invalid object type: /, Kind=ConfigMap");
  EXPECT_EQ(Apply("m", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"managedFields":[]}})"),
            "400 metadata.managedFields must be nil");
  EXPECT_EQ(
      Apply("m",
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"data":{"c":9}})"),
      "500 failed to create typed patch object (/n; /v1, Kind=ConfigMap): .data.c: expected "
      "string, got &value.valueUnstructured{Value:9}");
}

TEST_F(Ownerships, KubectlTakesOverWhatItAppliedFromTheClient) {
  std::string last = Config(R"({"a":"1"})");
  std::string quoted;
  AppendJsonString(quoted, last);
  Write(
      "kubectl-client-side-apply",
      fmt::format(
          R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"n","annotations":{{"{}":{}}}}},"data":{{"a":"1"}}}})",
          kLastAppliedAnnotation, quoted));
  EXPECT_TRUE(Apply("other", Config(R"({"a":"2"})")).starts_with("409"));
  EXPECT_EQ(Apply("kubectl", Config(R"({"a":"2"})")), R"({"a":"2"})");
  EXPECT_EQ(live.root()["metadata"]["annotations"][kLastAppliedAnnotation].AsString(),
            R"({"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"n"}})"
            "\n");
  // What somebody has changed since is not kubectl's.
  Write("editor",
        fmt::format(R"({{"metadata":{{"name":"n","annotations":{{"{}":{}}}}},"data":{{"a":"3"}}}})",
                    kLastAppliedAnnotation, quoted));
  EXPECT_EQ(Apply("kubectl", Config(R"({"a":"4"})")),
            "409 Apply failed with 1 conflict: conflict with \"editor\" using v1: .data.a");
}

// spec.replicas of apps/v1 is spec.size of apps/v2.
class TwoVersions : public VersionConverter {
 public:
  const schema::Type* TypeIn(std::string_view version) const override {
    if (version == "apps/v2") return &types["DeploymentV2"];
    return version == "apps/v1" ? &types["Deployment"] : nullptr;
  }
  Result<Document> Convert(const Document& object, std::string_view version) const override {
    bool up = version == "apps/v2";
    value::Builder builder(object);
    auto spec = builder.root().Field("spec");
    if (auto moved = spec.Find(up ? "replicas" : "size")) {
      Value count = moved->Get();
      spec.RemoveField(up ? "replicas" : "size");
      spec.SetField(up ? "size" : "replicas", count);
    }
    builder.root().SetField("apiVersion", builder.String(version));
    return std::move(builder).Finish();
  }
};

TEST_F(Ownerships, OwnersOfOtherVersionsAreComparedThere) {
  TwoVersions versions;
  auto options = Options("Deployment", "apps");
  options.converter = &versions;
  Ownership v1(options);
  options.type = &types["DeploymentV2"];
  options.kind = {"apps", "v2", "Deployment"};
  Ownership v2(options);
  auto created = v2.Apply(
      v2.NewObject(), Parse(R"({"apiVersion":"apps/v2","kind":"Deployment","spec":{"size":3}})"),
      "m2", false, Tick());
  ASSERT_TRUE(created.has_value()) << created.error().message;
  auto stored = versions.Convert(*created, "apps/v1");
  auto conflict = v1.Apply(
      *stored, Parse(R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":4}})"), "m1",
      false, Tick());
  ASSERT_FALSE(conflict.has_value());
  EXPECT_EQ(conflict.error().message,
            "Apply failed with 1 conflict: conflict with \"m2\": .spec.size");
  // An applier that changes version keeps its one entry, and takes back what it applied there.
  auto moved = v1.Apply(
      *stored,
      Parse(R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"ports":[{"port":1}]}})"), "m2",
      false, Tick());
  ASSERT_TRUE(moved.has_value()) << moved.error().message;
  EXPECT_TRUE(moved->root()["spec"]["replicas"].is_null());
  Value entries = moved->root()["metadata"]["managedFields"];
  EXPECT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries.At(0)["apiVersion"].AsString(), "apps/v1");
}

TEST_F(Ownerships, OwnersInVersionsThatAreGoneAreForgotten) {
  live = Parse(
      R"({"metadata":{"uid":"u","managedFields":[{"manager":"old","operation":"Update","apiVersion":"v0","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}]},"data":{"a":"1"}})");
  EXPECT_EQ(Apply("m", Config(R"({"a":"2"})")), R"({"a":"2"})");
  EXPECT_EQ(Owners(), R"(m Apply {"f:data":{"f:a":{}}})");
}

TEST_F(Ownerships, TimesStayWhenNothingElseChanged) {
  Apply("m", Config(R"({"a":"1"})"));
  Document before = live;
  value::Builder later(live);
  later.root()
      .Field("metadata")
      .Field("managedFields")
      .Item(0)
      .SetField("time", Value::String("2030-01-01T00:00:00Z"));
  Document touched = std::move(later).Finish();
  EXPECT_EQ(Text(KeepTimesIfUnchanged(before, touched)), Text(before));
  value::Builder changed(touched);
  changed.root().Field("data").SetField("a", Value::String("2"));
  Document written = std::move(changed).Finish();
  EXPECT_EQ(Text(KeepTimesIfUnchanged(before, written)), Text(written));
}

}  // namespace
}  // namespace keelson::patch
