#include "value/document.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace keelson::value {
namespace {

Document Deployment() {
  Builder builder;
  Ref root = builder.root();
  root.SetField("kind", builder.String("Deployment"));
  Ref spec = root.Field("spec");
  spec.SetField("replicas", Value::Int(1));
  Ref containers = spec.Field("template").Field("containers");
  containers.Append(Value()).SetField("name", builder.String("a"));
  containers.Append(Value()).SetField("name", builder.String("b"));
  return std::move(builder).Finish();
}

TEST(Builder, KeepsTheOrderInWhichFieldsWereAdded) {
  Document doc = Deployment();
  ASSERT_EQ(doc->members().size(), 2u);
  EXPECT_EQ(doc->members()[0].key(), "kind");
  EXPECT_EQ(doc->members()[1].key(), "spec");
  EXPECT_EQ(doc.root()["spec"]["template"]["containers"].At(1)["name"].AsString(), "b");
}

TEST(Builder, EditingLeavesTheOldTreeAloneAndSharesTheRest) {
  Document before = Deployment();
  Builder builder(before);
  builder.root().Field("spec").SetField("replicas", Value::Int(5));
  Document after = std::move(builder).Finish();
  EXPECT_EQ(before.root()["spec"]["replicas"].AsInt(), 1);
  EXPECT_EQ(after.root()["spec"]["replicas"].AsInt(), 5);
  EXPECT_EQ(before.root()["spec"].Find("template")->members().data(),
            after.root()["spec"].Find("template")->members().data());
}

TEST(Builder, ATreeKeepsWhatItBorrowsAlive) {
  Document after;
  {
    Document before = Deployment();
    Builder builder(before);
    builder.root().SetField("kind", builder.String("Copy"));
    after = std::move(builder).Finish();
  }
  EXPECT_EQ(after.root()["spec"]["template"]["containers"].At(0)["name"].AsString(), "a");
}

TEST(Builder, AValueTakenOutIsNotChangedByLaterEdits) {
  Builder builder(Deployment());
  Ref root = builder.root();
  root.Field("spec").SetField("replicas", Value::Int(2));
  Value taken = root.Field("spec").Get();
  root.SetField("other", taken);
  root.Field("spec").SetField("replicas", Value::Int(3));
  EXPECT_EQ(taken["replicas"].AsInt(), 2);
  EXPECT_EQ(root.Get()["other"]["replicas"].AsInt(), 2);
  EXPECT_EQ(root.Get()["spec"]["replicas"].AsInt(), 3);
}

TEST(Builder, TakingTheRootProtectsEverythingBelow) {
  Builder builder(Deployment());
  Ref root = builder.root();
  root.Field("spec").SetField("replicas", Value::Int(2));
  Value taken = root.Get();
  root.Field("spec").SetField("replicas", Value::Int(3));
  EXPECT_EQ(taken["spec"]["replicas"].AsInt(), 2);
}

TEST(Builder, InsertsAndRemoves) {
  Builder builder;
  Ref list = builder.root().Field("list");
  for (int i = 0; i < 20; ++i) list.Append(Value::Int(i));
  list.RemoveItem(0);
  list.InsertItem(1, Value::Int(100));
  Ref root = builder.root();
  root.InsertField(0, *builder.Intern("first"), Value::Bool(true));
  EXPECT_TRUE(root.RemoveField("first"));
  EXPECT_FALSE(root.RemoveField("first"));
  Document doc = std::move(builder).Finish();
  auto items = doc.root()["list"].items();
  ASSERT_EQ(items.size(), 20u);
  EXPECT_EQ(items[0].AsInt(), 1);
  EXPECT_EQ(items[1].AsInt(), 100);
  EXPECT_EQ(items[19].AsInt(), 19);
}

TEST(Builder, FindDoesNotAdd) {
  Builder builder(Deployment());
  EXPECT_FALSE(builder.root().Find("absent").has_value());
  EXPECT_TRUE(builder.root().Find("spec").has_value());
  EXPECT_EQ(builder.root().size(), 2u);
}

TEST(Document, DeepCopyBorrowsNothing) {
  Document copy;
  {
    Document doc = Deployment();
    copy = DeepCopy(doc.root());
    EXPECT_EQ(copy.root(), doc.root());
  }
  EXPECT_EQ(copy.root()["kind"].AsString(), "Deployment");
}

TEST(Document, MayBeReadAndDroppedByManyThreads) {
  Document doc = Deployment();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([doc] { EXPECT_EQ(doc.root()["spec"]["replicas"].AsInt(), 1); });
  }
  doc = {};
  for (auto& thread : threads) thread.join();
}

TEST(Arena, BigAllocationsLeaveRoomForSmallOnes) {
  ArenaRef arena = Arena::Make();
  std::string big(100000, 'x');
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(arena->CopyString("small"), "small");
    EXPECT_EQ(arena->CopyString(big), big);
  }
  EXPECT_LT(arena->reserved(), 20u << 20);
}

}  // namespace
}  // namespace keelson::value
