#include "kv/etcd/messages.h"

#include <charconv>
#include <tuple>

#include "grpc/protobuf_wire.h"

namespace keelson::kv::etcd {
namespace {

using grpc::FieldReader;
using grpc::MessageWriter;

// The first key, and the end of all keys: etcd has no empty ones.
constexpr std::string_view kZero{"\0", 1};

std::unexpected<Error> Malformed(std::string_view what) {
  return Fail(ErrorCode::kCorrupt, "etcd: malformed {}", what);
}

// `part` as a Slice that keeps the message alive.
Slice Share(const Slice& message, std::string_view part) {
  return message.Sub(static_cast<size_t>(part.data() - message.data()), part.size());
}

void WriteKeys(MessageWriter& out, const KeyRange& range) {
  out.Bytes(1, range.start.empty() ? kZero : range.start);
  out.Bytes(2, range.end.empty() ? kZero : range.end);
}

void WriteCompare(MessageWriter& out, const Compare& compare) {
  // result: EQUAL, GREATER, LESS, NOT_EQUAL; target: VERSION, CREATE, MOD, VALUE, LEASE. The
  // operand stands in a field of its own per target.
  static constexpr int kResults[] = {0, 3, 2, 1};  // by Relation
  static constexpr struct {
    int target;
    uint32_t field;
  } kTargets[] = {{2, 6}, {1, 5}, {0, 4}, {4, 8}};  // by Target
  const auto& target = kTargets[static_cast<int>(compare.target)];
  out.Int(1, kResults[static_cast<int>(compare.relation)]);
  out.Int(2, target.target);
  out.Bytes(3, compare.key);
  out.SetInt(target.field, compare.operand);
}

void WriteOperation(MessageWriter& out, const Operation& operation, bool want_previous) {
  if (operation.type == Operation::Type::kPut) {
    out.Message(2, [&](MessageWriter& put) {
      put.Bytes(1, operation.key);
      put.Bytes(2, operation.value.view());
      put.Int(3, operation.lease);
      put.Bool(4, want_previous);
    });
  } else {
    out.Message(3, [&](MessageWriter& remove) {
      remove.Bytes(1, operation.key);
      remove.Bool(3, want_previous);
    });
  }
}

Result<KeyValue> ReadKeyValue(const Slice& message, std::string_view bytes) {
  KeyValue kv;
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        kv.key = Share(message, fields.AsBytes());
        break;
      case 2:
        kv.create_revision = fields.AsInt();
        break;
      case 3:
        kv.mod_revision = fields.AsInt();
        break;
      case 4:
        kv.version = fields.AsInt();
        break;
      case 5:
        kv.value = Share(message, fields.AsBytes());
        break;
      case 6:
        kv.lease = fields.AsInt();
        break;
      default:
        break;
    }
  }
  if (!fields.ok()) return Malformed("key");
  return kv;
}

Revision ReadRevision(std::string_view header) {
  FieldReader fields(header);
  while (fields.Next()) {
    if (fields.number() == 3) return fields.AsInt();
  }
  return 0;
}

Result<RangeResult> ReadRange(const Slice& message, std::string_view bytes) {
  RangeResult result;
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        result.revision = ReadRevision(fields.AsBytes());
        break;
      case 2: {
        TRY(auto kv, ReadKeyValue(message, fields.AsBytes()));
        result.items.push_back(std::move(kv));
        break;
      }
      case 3:
        result.more = fields.AsBool();
        break;
      case 4:
        result.count = fields.AsInt();
        break;
      default:
        break;
    }
  }
  if (!fields.ok()) return Malformed("range");
  return result;
}

// The first KeyValue among the fields of `number`: prev_kv of a put or delete, kvs of a range.
Result<KeyValue> FirstKeyValue(const Slice& message, std::string_view bytes, uint32_t number) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    if (fields.number() == number) return ReadKeyValue(message, fields.AsBytes());
  }
  if (!fields.ok()) return Malformed("answer of an operation");
  return KeyValue{};
}

// A ResponseOp: its member tells what kind of operation it answers.
Result<KeyValue> ReadOperation(const Slice& message, std::string_view bytes) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:  // range
      case 2:  // put
        return FirstKeyValue(message, fields.AsBytes(), 2);
      case 3:  // delete
        return FirstKeyValue(message, fields.AsBytes(), 3);
      default:
        break;
    }
  }
  return Malformed("answer of an operation");
}

Result<Event> ReadEvent(const Slice& message, std::string_view bytes) {
  Event event;
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        event.type = fields.AsInt() == 1 ? Event::Type::kDelete : Event::Type::kPut;
        break;
      case 2: {
        TRY(event.kv, ReadKeyValue(message, fields.AsBytes()));
        break;
      }
      case 3: {
        TRY(event.previous, ReadKeyValue(message, fields.AsBytes()));
        break;
      }
      default:
        break;
    }
  }
  if (!fields.ok()) return Malformed("event");
  return event;
}

}  // namespace

std::string EncodeRange(const RangeRequest& request) {
  MessageWriter out;
  WriteKeys(out, request.range);
  out.Int(3, request.limit);
  out.Int(4, request.revision);
  out.Bool(8, request.keys_only);
  out.Bool(9, request.count_only);
  return out.Take();
}

std::string EncodeProbe(Revision revision) {
  MessageWriter out;
  out.Bytes(1, kZero);
  out.Int(4, revision);
  out.Bool(9, true);
  return out.Take();
}

std::string EncodeTransaction(const Transaction& transaction) {
  MessageWriter out;
  size_t size = 64;
  for (const auto& operation : transaction.operations) {
    size += 2 * operation.key.size() + operation.value.size() + 64;
  }
  out.Reserve(size);
  for (const auto& compare : transaction.compares) {
    out.Message(1, [&](MessageWriter& inner) { WriteCompare(inner, compare); });
  }
  for (const auto& operation : transaction.operations) {
    out.Message(2, [&](MessageWriter& inner) {
      WriteOperation(inner, operation, transaction.want_previous);
    });
  }
  for (const auto& key : transaction.read_on_failure) {
    out.Message(3, [&](MessageWriter& inner) {
      inner.Message(1, [&](MessageWriter& range) { range.Bytes(1, key); });
    });
  }
  return out.Take();
}

std::string EncodeCompaction(Revision revision) {
  MessageWriter out;
  out.Int(1, revision);
  return out.Take();
}

std::string EncodeWatchCreate(const KeyRange& range, Revision start, bool want_previous) {
  MessageWriter out;
  out.Message(1, [&](MessageWriter& create) {
    WriteKeys(create, range);
    create.Int(3, start);
    create.Bool(6, want_previous);
  });
  return out.Take();
}

std::string EncodeProgressRequest() {
  MessageWriter out;
  out.Message(3, [](MessageWriter&) {});
  return out.Take();
}

std::string EncodeLeaseGrant(int64_t seconds, LeaseId id) {
  MessageWriter out;
  out.Int(1, seconds);
  out.Int(2, id);
  return out.Take();
}

std::string EncodeLeaseId(LeaseId id) {
  MessageWriter out;
  out.Int(1, id);
  return out.Take();
}

std::string EncodeLeaseTimeToLive(LeaseId id) {
  MessageWriter out;
  out.Int(1, id);
  out.Bool(2, true);
  return out.Take();
}

Result<RangeResult> DecodeRange(const Slice& message) { return ReadRange(message, message.view()); }

Result<TransactionResult> DecodeTransaction(const Slice& message, const Transaction& transaction) {
  TransactionResult result;
  std::vector<KeyValue> answers;
  FieldReader fields(message.view());
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        result.revision = ReadRevision(fields.AsBytes());
        break;
      case 2:
        result.succeeded = fields.AsBool();
        break;
      case 3: {
        TRY(auto kv, ReadOperation(message, fields.AsBytes()));
        answers.push_back(std::move(kv));
        break;
      }
      default:
        break;
    }
  }
  if (!fields.ok()) return Malformed("transaction");
  const size_t expected =
      result.succeeded ? transaction.operations.size() : transaction.read_on_failure.size();
  if (answers.size() != expected) return Malformed("transaction");
  if (!result.succeeded) {
    result.current = std::move(answers);
  } else if (transaction.want_previous) {
    result.previous = std::move(answers);
  }
  return result;
}

Result<Revision> DecodeHeader(const Slice& message) {
  FieldReader fields(message.view());
  while (fields.Next()) {
    if (fields.number() == 1) return ReadRevision(fields.AsBytes());
  }
  return Malformed("answer");
}

Result<WatchResponse> DecodeWatch(const Slice& message) {
  WatchResponse response;
  FieldReader fields(message.view());
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        response.revision = ReadRevision(fields.AsBytes());
        break;
      case 3:
        response.created = fields.AsBool();
        break;
      case 4:
        response.cancelled = fields.AsBool();
        break;
      case 5:
        response.compacted = fields.AsInt();
        break;
      case 6:
        response.reason = fields.AsBytes();
        break;
      case 11: {
        TRY(auto event, ReadEvent(message, fields.AsBytes()));
        response.events.push_back(std::move(event));
        break;
      }
      default:
        break;
    }
  }
  if (!fields.ok()) return Malformed("watch");
  return response;
}

Result<LeaseResponse> DecodeLease(const Slice& message) {
  LeaseResponse response;
  FieldReader fields(message.view());
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        response.revision = ReadRevision(fields.AsBytes());
        break;
      case 2:
        response.id = fields.AsInt();
        break;
      case 3:
        response.ttl = fields.AsInt();
        break;
      default:
        break;
    }
  }
  if (!fields.ok()) return Malformed("lease");
  return response;
}

Result<LeaseResponse> DecodeTimeToLive(const Slice& message) {
  TRY(auto response, DecodeLease(message));
  FieldReader fields(message.view());
  while (fields.Next()) {
    if (fields.number() == 4) response.granted = fields.AsInt();
    if (fields.number() == 5) response.keys.emplace_back(fields.AsBytes());
  }
  return response;
}

Result<ServerStatus> DecodeStatus(const Slice& message) {
  ServerStatus status;
  FieldReader fields(message.view());
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        status.revision = ReadRevision(fields.AsBytes());
        break;
      case 2:
        status.version = fields.AsBytes();
        break;
      case 3:
        status.database_bytes = fields.AsInt();
        break;
      case 8:
        status.errors.emplace_back(fields.AsBytes());
        break;
      default:
        break;
    }
  }
  if (!fields.ok()) return Malformed("status");
  return status;
}

bool TellsProgressInOrder(std::string_view version) {
  int parts[3] = {};
  const char* at = version.data();
  const char* end = at + version.size();
  for (int& part : parts) {
    auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc()) break;
    at = next != end && *next == '.' ? next + 1 : next;
  }
  auto [major, minor, patch] = std::tuple(parts[0], parts[1], parts[2]);
  if (std::tuple(major, minor) == std::tuple(3, 4)) return patch >= 25;
  return std::tuple(major, minor, patch) >= std::tuple(3, 5, 8);
}

}  // namespace keelson::kv::etcd
