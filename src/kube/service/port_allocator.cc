// The record stands at /registry/ranges/servicenodeports: a RangeAllocation whose data is the taken
// ports as one number, most significant byte first; bit n is the n-th port of the range.

#include "kube/service/port_allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "api/core_v1.h"
#include "crypto/base64.h"
#include "schema/protobuf.h"
#include "value/document.h"

namespace keelson::kube::service {
namespace {

using v1 = api::core_v1::RangeAllocation;
using value::Value;

constexpr std::string_view kKey = "/registry/ranges/servicenodeports";

Result<int> ParsePort(std::string_view text) {
  int port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return Fail(ErrorCode::kInvalid, "unable to parse port: {}", text);
  }
  return port;
}

// A free port from [begin, end), starting at random; -1 when all are taken.
int PickFree(const std::vector<bool>& taken, int begin, int end) {
  if (begin >= end) return -1;
  thread_local std::minstd_rand random{std::random_device{}()};
  const int count = end - begin;
  const int start = std::uniform_int_distribution<int>(0, count - 1)(random);
  for (int i = 0; i < count; ++i) {
    const int offset = begin + (start + i) % count;
    if (!taken[offset]) return offset;
  }
  return -1;
}

}  // namespace

Result<PortRange> PortRange::Parse(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty()) return PortRange{0, 0};
  const auto mark = text.find_first_of("-+");
  if (mark == std::string_view::npos) {
    TRY(const int port, ParsePort(text));
    return PortRange{port, 1};
  }
  TRY(const int low, ParsePort(text.substr(0, mark)));
  TRY(int high, ParsePort(text.substr(mark + 1)));
  if (text[mark] == '+') high += low;
  if (low > 65535 || high > 65535) {
    return Fail(ErrorCode::kInvalid, "the port range cannot be greater than 65535: {}", text);
  }
  if (high < low) {
    return Fail(ErrorCode::kInvalid, "end port cannot be less than start port: {}", text);
  }
  return PortRange{low, high - low + 1};
}

std::string PortRange::ToString() const {
  if (count == 0) return "";
  return fmt::format("{}-{}", first, first + count - 1);
}

int PortRange::reserved() const {
  constexpr int kLeast = 16;
  constexpr int kMost = 128;
  constexpr int kShare = 32;
  if (count <= kLeast) return 0;
  return std::clamp(count / kShare, kLeast, kMost);
}

struct PortAllocator::Record {
  kv::Revision revision = 0;  // of what was read; 0 when there is none yet
  std::vector<bool> taken;
};

Task<Result<PortAllocator::Record>> PortAllocator::Read() {
  CO_TRY(const auto found, co_await store_.Get(std::string(kKey)));
  Record record{.taken = std::vector<bool>(range_.count)};
  if (!found.item) co_return record;
  record.revision = found.item->mod_revision;
  CO_TRY(const auto object, schema::DecodeProtobufEnvelope(v1::Schema(), found.item->value.view()));
  const v1 allocation(object.root());
  // Another range than ours: start anew, as the ports of services are checked when they change.
  if (allocation.range() != range_.ToString()) co_return record;
  CO_TRY(const auto bytes, crypto::Base64Decode(allocation.data()));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[bytes.size() - 1 - i]);
    for (size_t bit = 0; bit < 8; ++bit) {
      const size_t offset = i * 8 + bit;
      if ((byte >> bit & 1) != 0 && offset < record.taken.size()) record.taken[offset] = true;
    }
  }
  co_return record;
}

Task<Result<bool>> PortAllocator::Write(Record& record) {
  std::string bytes((record.taken.size() + 7) / 8, '\0');
  for (size_t i = 0; i < record.taken.size(); ++i) {
    if (record.taken[i]) bytes[bytes.size() - 1 - i / 8] |= static_cast<char>(1 << (i % 8));
  }
  bytes.erase(0, std::min(bytes.find_first_not_of('\0'), bytes.size()));
  value::Builder builder;
  auto root = builder.root();
  root.SetField("kind", Value::String("RangeAllocation"));
  root.SetField("apiVersion", Value::String("v1"));
  root.SetField("metadata", Value::EmptyObject());
  root.SetField("range", builder.String(range_.ToString()));
  root.SetField("data", builder.String(crypto::Base64Encode(bytes)));
  const auto object = std::move(builder).Finish();
  kv::Transaction transaction;
  transaction.compares.push_back(kv::Compare::ModRevision(std::string(kKey), record.revision));
  transaction.operations.push_back(kv::Operation::Put(
      std::string(kKey), Slice::Own(schema::EncodeProtobufEnvelope(v1::Schema(), object.root()))));
  CO_TRY(const auto result, co_await store_.Commit(std::move(transaction)));
  co_return result.succeeded;
}

Task<std::expected<PortAllocator::Ports, PortAllocator::Refusal>> PortAllocator::Take(
    Ports wanted, bool dry_run) {
  for (;;) {
    auto record = co_await Read();
    if (!record) co_return std::unexpected(Refusal{.message = record.error().message});
    Ports got;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const bool any = wanted[i] == 0;
      int offset = wanted[i] - range_.first;
      if (any) {
        offset = PickFree(record->taken, range_.reserved(), range_.count);
        if (offset < 0) offset = PickFree(record->taken, 0, range_.reserved());
        if (offset < 0) {
          co_return std::unexpected(
              Refusal{.index = i, .message = "range is full", .exhausted = true});
        }
      } else if (!range_.Contains(wanted[i])) {
        co_return std::unexpected(
            Refusal{.index = i,
                    .message = fmt::format("provided port is not in the valid range. The range of "
                                           "valid ports is {}",
                                           range_.ToString())});
      } else if (record->taken[offset]) {
        co_return std::unexpected(
            Refusal{.index = i, .message = "provided port is already allocated"});
      }
      record->taken[offset] = true;
      got.push_back(range_.first + offset);
    }
    if (dry_run || got.empty()) co_return got;
    auto written = co_await Write(*record);
    if (!written) co_return std::unexpected(Refusal{.message = written.error().message});
    if (*written) co_return got;
  }
}

Task<Result<void>> PortAllocator::GiveBack(Ports ports) {
  for (;;) {
    CO_TRY(auto record, co_await Read());
    bool changed = false;
    for (const int port : ports) {
      if (!range_.Contains(port) || !record.taken[port - range_.first]) continue;
      record.taken[port - range_.first] = false;
      changed = true;
    }
    if (!changed) co_return Result<void>();
    CO_TRY(const bool written, co_await Write(record));
    if (written) co_return Result<void>();
  }
}

}  // namespace keelson::kube::service
