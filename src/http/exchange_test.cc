#include "http/exchange.h"

#include <gtest/gtest.h>

#include "http/fake_exchange.h"

namespace keelson::http {
namespace {

TEST(Headers, ComparesNamesWithoutCase) {
  Headers headers;
  headers.Add("Content-Type", "a/b");
  EXPECT_EQ(headers.Get("content-type"), "a/b");
  EXPECT_FALSE(headers.Has("content-typ"));
}

TEST(Headers, SetReplacesAllAndMayTakeItsOwnValue) {
  Headers headers;
  headers.Add("a", "1");
  headers.Add("A", "2");
  headers.Add("b", std::string(1000, 'x'));
  headers.Set("a", *headers.Get("b"));
  EXPECT_EQ(headers.GetAll("a").size(), 1u);
  EXPECT_EQ(headers.Get("a")->size(), 1000u);
}

TEST(Headers, KeepsOrder) {
  Headers headers;
  headers.Add("x", "1");
  headers.AddView("y", "2");
  headers.Add("x", "3");
  ASSERT_EQ(headers.fields().size(), 3u);
  EXPECT_EQ(headers.fields()[2].value, "3");
  EXPECT_EQ(headers.GetAll("x"), (std::vector<std::string_view>{"1", "3"}));
}

struct EchoHandler : Handler {
  size_t limit = 100;
  Task<void> Serve(Exchange& exchange) override {
    auto body = co_await exchange.body->ReadAll(limit);
    if (!body) {
      exchange.response->Send(body.error().code == ErrorCode::kTooLarge ? 413 : 400, {});
      co_return;
    }
    exchange.response->Start(200);
    auto written = co_await exchange.response->Write({Slice::Own(*std::move(body))});
    if (written) exchange.response->Finish();
  }
};

TEST(ReadAll, RefusesAnAnnouncedBodyBeforeReadingIt) {
  EchoHandler handler;
  FakeExchange fake("POST", "/");
  fake.Body(std::string(101, 'x'));
  ASSERT_TRUE(fake.Run(handler));
  EXPECT_EQ(fake.status(), 413);
}

TEST(ReadAll, RefusesAStreamedBodyOncePastTheLimit) {
  EchoHandler handler;
  FakeExchange fake("POST", "/");
  fake.StreamBody();
  EXPECT_FALSE(fake.Run(handler));
  fake.Feed(std::string(100, 'x'));
  EXPECT_FALSE(fake.finished());
  fake.Feed("x");
  EXPECT_TRUE(fake.finished());
  EXPECT_EQ(fake.status(), 413);
}

TEST(FakeExchange, HoldsBackWritesUntilDrained) {
  EchoHandler handler;
  FakeExchange fake("POST", "/echo?x=1");
  fake.Body("hello").Window(2);
  EXPECT_EQ(fake.exchange().request.path, "/echo");
  EXPECT_EQ(fake.exchange().request.raw_query, "x=1");
  EXPECT_FALSE(fake.Run(handler));
  fake.Drain(2);
  EXPECT_FALSE(fake.finished());
  fake.Drain(1);
  EXPECT_TRUE(fake.complete());
  EXPECT_EQ(fake.body(), "hello");
}

TEST(FakeExchange, ClientGoneFailsReadersAndCancels) {
  EchoHandler handler;
  FakeExchange fake("POST", "/");
  fake.StreamBody();
  fake.Run(handler);
  fake.ClientGone();
  EXPECT_TRUE(fake.finished());
  EXPECT_TRUE(fake.exchange().cancelled.stop_requested());
  EXPECT_EQ(fake.status(), 400);
}

}  // namespace
}  // namespace keelson::http
