#include "client/informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing_transport.h"
#include "value/json.h"

namespace keelson::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScriptedTransport;
using value::Document;

std::string Pod(std::string_view name, int version, std::string_view node = "one") {
  return fmt::format(R"({{"metadata":{{"name":"{}","namespace":"n","resourceVersion":"{}"}},)"
                     R"("spec":{{"nodeName":"{}"}}}})",
                     name, version, node);
}
std::string List(int version, std::vector<std::string> items, std::string_view token = "") {
  return fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
                     version, token, fmt::join(items, ","));
}
std::string Event(std::string_view type, const std::string& object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}
constexpr std::string_view kGone =
    R"({"kind":"Status","status":"Failure","reason":"Expired","message":"too old","code":410})";

// Writes down what it hears.
class Ear final : public EventHandler {
 public:
  std::vector<std::string> heard;
  void OnAdd(const Document& object, bool initial) override {
    heard.push_back((initial ? "first " : "add ") + Name(object));
  }
  void OnUpdate(const Document& old, const Document& object) override {
    heard.push_back("update " + Name(old) + " " + Name(object));
  }
  void OnDelete(const Document& object) override { heard.push_back("delete " + Name(object)); }

  std::vector<std::string> Take() { return std::exchange(heard, {}); }

 private:
  static std::string Name(const Document& object) {
    const auto metadata = object.root()["metadata"];
    return std::string(metadata["name"].AsString()) + "@" +
           std::string(metadata["resourceVersion"].AsString());
  }
};

class InformerTest : public ::testing::Test {
 protected:
  ~InformerTest() override {
    stop_.request_stop();
    if (transport_.last) transport_.last->End();
    Settle();
    gate_.CloseAndWait();
  }
  void Start(Informer::Options options = {.resource = {"", "v1", "pods"}}) {
    options.indexers["node"] = [](const value::Value& pod) {
      return std::vector<std::string>{std::string(pod["spec"]["nodeName"].AsString())};
    };
    informer_.emplace(std::move(options), client_, clock_);
    informer_->AddHandler(ear_);
    gate_.Spawn(&executor_, informer_->Run(stop_.get_token()));
    Settle();
  }
  void Settle() { executor_.RunUntilIdle(); }
  void Say(const std::string& text) {
    transport_.last->Push(text);
    Settle();
  }
  void Pass(Duration time) {
    clock_.Advance(time, [&] { Settle(); });
  }
  std::string LastTarget() const { return transport_.calls.back().target; }

  FakeClock clock_;
  ManualExecutor executor_;
  ScriptedTransport transport_;
  ApiClient client_{transport_};
  Ear ear_;
  std::optional<Informer> informer_;
  std::stop_source stop_;
  Gate gate_;
};

TEST_F(InformerTest, ListsThenFollows) {
  transport_.steps = {{200, List(5, {Pod("a", 3), Pod("b", 4)})}, {200, "", true}};
  Start();
  EXPECT_TRUE(informer_->HasSynced());
  EXPECT_EQ(transport_.calls[0].target, "/api/v1/pods?resourceVersion=0");
  EXPECT_THAT(LastTarget(), HasSubstr("watch=true&allowWatchBookmarks=true&resourceVersion=5"));
  EXPECT_THAT(ear_.Take(), ElementsAre("first a@3", "first b@4"));
  Say(Event("ADDED", Pod("c", 6)) + Event("MODIFIED", Pod("a", 7, "two")));
  Say(Event("DELETED", Pod("b", 8)));
  EXPECT_THAT(ear_.Take(), ElementsAre("add c@6", "update a@3 a@7", "delete b@8"));
  EXPECT_EQ(informer_->store().size(), 2u);
  EXPECT_EQ(informer_->store().ByIndex("node", "two").size(), 1u);
  EXPECT_EQ(informer_->store().ByIndex("node", "one").size(), 1u);
  EXPECT_TRUE(informer_->store().ByIndex("node", "none").empty());
  EXPECT_EQ(informer_->store().List("n").size(), 2u);
  EXPECT_TRUE(informer_->store().List("other").empty());
  EXPECT_TRUE(informer_->store().Get("n/c").has_value());
}

TEST_F(InformerTest, TakesAWatchUpWhereItEnded) {
  transport_.steps = {{200, List(5, {Pod("a", 3)})},
                      {200, Event("BOOKMARK", R"({"metadata":{"resourceVersion":"9"}})")},
                      {200, "", true}};
  Start();
  EXPECT_EQ(transport_.calls.size(), 3u);
  EXPECT_THAT(LastTarget(), HasSubstr("resourceVersion=9"));
  EXPECT_THAT(ear_.Take(), ElementsAre("first a@3"));
}

TEST_F(InformerTest, PassesOnWhatItMissedWhenTheVersionIsGone) {
  transport_.steps = {{200, List(5, {Pod("a", 3), Pod("b", 4), Pod("c", 5)})},
                      {200, Event("ERROR", std::string(kGone))},
                      {200, List(20, {Pod("a", 3), Pod("c", 17), Pod("d", 18)})},
                      {200, "", true}};
  Start();
  EXPECT_THAT(ear_.Take(), ElementsAre("first a@3", "first b@4", "first c@5", "delete b@4",
                                       "update c@5 c@17", "add d@18"));
  EXPECT_EQ(transport_.calls[2].target, "/api/v1/pods?limit=500");
  EXPECT_THAT(LastTarget(), HasSubstr("resourceVersion=20"));
}

TEST_F(InformerTest, APlainRefusalAsGoneListsAnewToo) {
  transport_.steps = {
      {200, List(5, {})}, {410, std::string(kGone)}, {200, List(8, {})}, {200, "", true}};
  Start();
  EXPECT_THAT(LastTarget(), HasSubstr("resourceVersion=8"));
}

TEST_F(InformerTest, ListsPageByPageAndWholeWhenPagesExpire) {
  transport_.steps = {{200, List(5, {})},
                      {200, Event("ERROR", std::string(kGone))},
                      {200, List(6, {Pod("a", 1)}, "more")},
                      {410, std::string(kGone)},
                      {200, List(7, {Pod("a", 1), Pod("b", 2)})},
                      {200, "", true}};
  Start();
  EXPECT_EQ(transport_.calls[3].target, "/api/v1/pods?limit=500&continue=more");
  EXPECT_EQ(transport_.calls[4].target, "/api/v1/pods");
  EXPECT_THAT(ear_.Take(), ElementsAre("add a@1", "add b@2"));
}

TEST_F(InformerTest, WaitsLongerAndLongerForAServerThatIsNotThere) {
  Start();
  EXPECT_FALSE(informer_->HasSynced());
  EXPECT_EQ(transport_.calls.size(), 1u);
  Pass(std::chrono::milliseconds(700));
  EXPECT_EQ(transport_.calls.size(), 1u);
  Pass(std::chrono::milliseconds(900));  // the first pause takes 0.8 to 1.6 s, the next twice that
  EXPECT_EQ(transport_.calls.size(), 2u);
  Pass(std::chrono::minutes(10));
  const auto calls = transport_.calls.size();
  EXPECT_GT(calls, 10u);  // never more than a minute apart
  EXPECT_LT(calls, 30u);
  transport_.steps = {{200, List(5, {Pod("a", 3)})}, {200, "", true}};
  Pass(std::chrono::minutes(1));
  EXPECT_TRUE(informer_->HasSynced());
}

TEST_F(InformerTest, ABrokenConnectionDoesNotMeanANewList) {
  transport_.steps = {{200, List(5, {Pod("a", 3)})}, {200, Event("MODIFIED", Pod("a", 6)), true}};
  Start();
  transport_.last->End("reset by peer");
  Settle();
  transport_.steps = {{200, "", true}};
  Pass(std::chrono::seconds(2));
  EXPECT_THAT(LastTarget(), HasSubstr("watch=true"));
  EXPECT_THAT(LastTarget(), HasSubstr("resourceVersion=6"));
}

TEST_F(InformerTest, ResyncsWithoutAChange) {
  transport_.steps = {{200, List(5, {Pod("a", 3)})}, {200, "", true}};
  Start({.resource = {"", "v1", "pods"}, .resync = std::chrono::minutes(1)});
  ear_.Take();
  Pass(std::chrono::minutes(1));
  EXPECT_THAT(ear_.Take(), ElementsAre("update a@3 a@3"));
  Pass(std::chrono::minutes(2));
  EXPECT_THAT(ear_.Take(), ElementsAre("update a@3 a@3", "update a@3 a@3"));
}

TEST_F(InformerTest, ManyMayWaitForTheFirstList) {
  std::vector<bool> reached;
  const auto wait = [](Informer* informer, std::stop_token stop,
                       std::vector<bool>* out) -> Task<void> {
    out->push_back(co_await informer->Synced(stop));
  };
  Start();
  std::stop_source impatient;
  gate_.Spawn(&executor_, wait(&*informer_, {}, &reached));
  gate_.Spawn(&executor_, wait(&*informer_, impatient.get_token(), &reached));
  Settle();
  EXPECT_THAT(reached, IsEmpty());
  impatient.request_stop();
  Settle();
  EXPECT_THAT(reached, ElementsAre(false));
  transport_.steps = {{200, List(5, {})}, {200, "", true}};
  Pass(std::chrono::seconds(5));
  EXPECT_THAT(reached, ElementsAre(false, true));
}

TEST_F(InformerTest, SelectsAndKeepsToItsNamespace) {
  transport_.steps = {{200, List(5, {})}, {200, "", true}};
  Start({.resource = {"apps", "v1", "deployments"}, .ns = "n", .label_selector = "a=b,c"});
  EXPECT_EQ(transport_.calls[0].target,
            "/apis/apps/v1/namespaces/n/deployments?resourceVersion=0&labelSelector=a%3Db%2Cc");
  EXPECT_THAT(LastTarget(), HasSubstr("&labelSelector=a%3Db%2Cc&timeoutSeconds="));
}

}  // namespace
}  // namespace keelson::client
