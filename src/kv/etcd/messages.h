#pragma once

// The messages of etcd's v3 API that a store needs, between our types and their wire form. Numbers
// of fields are those of etcd's rpc.proto and kv.proto. Keys and values that are read share the
// memory of the message they came in.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/store.h"
#include "kv/types.h"

namespace keelson::kv::etcd {

namespace method {
inline constexpr std::string_view kRange = "/etcdserverpb.KV/Range";
inline constexpr std::string_view kTxn = "/etcdserverpb.KV/Txn";
inline constexpr std::string_view kCompact = "/etcdserverpb.KV/Compact";
inline constexpr std::string_view kWatch = "/etcdserverpb.Watch/Watch";
inline constexpr std::string_view kLeaseGrant = "/etcdserverpb.Lease/LeaseGrant";
inline constexpr std::string_view kLeaseRevoke = "/etcdserverpb.Lease/LeaseRevoke";
inline constexpr std::string_view kLeaseKeepAlive = "/etcdserverpb.Lease/LeaseKeepAlive";
inline constexpr std::string_view kLeaseTimeToLive = "/etcdserverpb.Lease/LeaseTimeToLive";
inline constexpr std::string_view kStatus = "/etcdserverpb.Maintenance/Status";
}  // namespace method

// --- requests

std::string EncodeRange(const RangeRequest& request);
// The store's revision and nothing else, as of `revision` (0: now).
std::string EncodeProbe(Revision revision);
std::string EncodeTransaction(const Transaction& transaction);
std::string EncodeCompaction(Revision revision);
std::string EncodeWatchCreate(const KeyRange& range, Revision start, bool want_previous);
std::string EncodeProgressRequest();
std::string EncodeLeaseGrant(int64_t seconds, LeaseId id);
std::string EncodeLeaseId(LeaseId id);  // of LeaseRevoke and LeaseKeepAlive
std::string EncodeLeaseTimeToLive(LeaseId id);

// --- answers; kCorrupt when they do not decode

struct WatchResponse {
  Revision revision = 0;  // of the server
  bool created = false;
  bool cancelled = false;
  Revision compacted = 0;  // when that is why it was cancelled
  std::string reason;
  std::vector<Event> events;
};

struct LeaseResponse {
  Revision revision = 0;
  LeaseId id = 0;
  int64_t ttl = 0;      // seconds left; not positive when there is no such lease
  int64_t granted = 0;  // only from LeaseTimeToLive
  std::vector<std::string> keys;
};

struct ServerStatus {
  Revision revision = 0;
  std::string version;  // "3.5.16"
  int64_t database_bytes = 0;
  std::vector<std::string> errors;  // alarms
};

Result<RangeResult> DecodeRange(const Slice& message);
// `transaction` is the one that was asked for.
Result<TransactionResult> DecodeTransaction(const Slice& message, const Transaction& transaction);
Result<Revision> DecodeHeader(const Slice& message);  // of any answer
Result<WatchResponse> DecodeWatch(const Slice& message);
Result<LeaseResponse> DecodeLease(const Slice& message);  // LeaseGrant, LeaseKeepAlive
Result<LeaseResponse> DecodeTimeToLive(const Slice& message);
Result<ServerStatus> DecodeStatus(const Slice& message);

// Whether a server of this version tells of progress only after it has sent all changes up to it:
// those before 3.4.25 and 3.5.8 may tell it too early (etcd issue 15220).
bool TellsProgressInOrder(std::string_view version);

}  // namespace keelson::kv::etcd
