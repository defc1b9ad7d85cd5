#include "kv/etcd/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kv/etcd/endpoints.h"

namespace keelson::kv::etcd {
namespace {

std::string Hex(const std::string& bytes) {
  std::string text;
  for (unsigned char c : bytes) text += fmt::format("{:02x}", c);
  return text;
}

Slice Bytes(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return Slice::Own(std::move(bytes));
}

TEST(EtcdMessages, RangesHaveNoEmptyKeys) {
  EXPECT_EQ(Hex(EncodeRange({.range = KeyRange::All()})), "0a0100120100");
  EXPECT_EQ(Hex(EncodeRange({.range = {"a", "b"}, .revision = 300, .limit = 5, .keys_only = true})),
            "0a016112016218"
            "0520ac024001");
}

TEST(EtcdMessages, ATransactionHasItsComparesOperationsAndReads) {
  Transaction transaction;
  transaction.compares = {Compare::ModRevision("k", 0), Compare::Exists("k")};
  transaction.operations = {Operation::Put("k", Slice::Static("v"), 7), Operation::Delete("d")};
  transaction.read_on_failure = {"k"};
  transaction.want_previous = true;
  // Sizes of messages inside take five bytes, whatever they are.
  EXPECT_EQ(Hex(EncodeTransaction(transaction)),
            "0a8780808000"
            "1002"
            "1a016b"
            "3000"  // MOD == 0
            "0a8980808000"
            "0801"
            "1002"
            "1a016b"
            "3000"  // MOD > 0
            "129080808000"
            "128a80808000"
            "0a016b"
            "120176"
            "1807"
            "2001"
            "128b80808000"
            "1a8580808000"
            "0a0164"
            "1801"
            "1a8980808000"
            "0a8380808000"
            "0a016b");
}

TEST(EtcdMessages, ReadsATransactionsAnswer) {
  Transaction transaction;
  transaction.read_on_failure = {"k", "absent"};
  // header{revision 9}, something unknown, succeeded left out for false, range{kvs{k, create 2, mod
  // 8, version 3, "v"}}, range{}
  auto result = DecodeTransaction(Bytes("0a021809"
                                        "790000000000000000"
                                        "1a100a0e120c0a016b100218082003"
                                        "2a0176"
                                        "1a020a00"),
                                  transaction);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->succeeded);
  EXPECT_EQ(result->revision, 9);
  ASSERT_EQ(result->current.size(), 2u);
  EXPECT_EQ(result->current[0].key.view(), "k");
  EXPECT_EQ(result->current[0].value.view(), "v");
  EXPECT_EQ(result->current[0].mod_revision, 8);
  EXPECT_FALSE(result->current[1].exists());
  // An answer to another question.
  transaction.read_on_failure = {"k"};
  EXPECT_EQ(DecodeTransaction(Bytes("0a021809"), transaction).error().code, ErrorCode::kCorrupt);
}

TEST(EtcdMessages, ReadsWatchAnswers) {
  auto response =
      DecodeWatch(Bytes("0a0218092801"
                        "5a0c0801120812"
                        "0800"
                        "00000000"));
  EXPECT_FALSE(response);
  response =
      DecodeWatch(Bytes("0a021809"
                        "5a09080112050a016b1805"));
  ASSERT_TRUE(response) << response.error().message;
  ASSERT_EQ(response->events.size(), 1u);
  EXPECT_EQ(response->events[0].type, Event::Type::kDelete);
  EXPECT_EQ(response->events[0].kv.mod_revision, 5);
  response =
      DecodeWatch(Bytes("0a021809"
                        "2001"
                        "2806"
                        "320478797a21"));
  ASSERT_TRUE(response);
  EXPECT_TRUE(response->cancelled);
  EXPECT_EQ(response->compacted, 6);
  EXPECT_EQ(response->reason, "xyz!");
}

TEST(EtcdMessages, KnowsWhichServersTellProgressInOrder) {
  for (auto good : {"3.4.25", "3.4.31", "3.5.8", "3.5.21", "3.6.0", "4.0.0", "3.6.0-alpha.1"}) {
    EXPECT_TRUE(TellsProgressInOrder(good)) << good;
  }
  for (auto bad : {"3.4.24", "3.5.0", "3.5.7", "3.3.27", "", "x"}) {
    EXPECT_FALSE(TellsProgressInOrder(bad)) << bad;
  }
}

TEST(EtcdMessages, FailuresKeepEtcdsWords) {
  auto error = [](grpc::Code code, std::string message, bool from_peer = true) {
    return ToError({code, std::move(message), false, from_peer});
  };
  EXPECT_EQ(error(grpc::Code::kInvalidArgument, "etcdserver: request is too large"),
            (Error{ErrorCode::kTooLarge, "etcdserver: request is too large"}));
  EXPECT_EQ(error(grpc::Code::kUnavailable, "etcdserver: request timed out"),
            (Error{ErrorCode::kUnavailable, "etcdserver: request timed out"}));
  EXPECT_EQ(
      error(grpc::Code::kUnavailable, "connection refused", false),
      (Error{ErrorCode::kUnavailable, "rpc error: code = Unavailable desc = connection refused"}));
}

}  // namespace
}  // namespace keelson::kv::etcd
