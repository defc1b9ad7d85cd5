#pragma once

// The bytes of a store on disk; docs/storage-format.md is the reference, this is its code.
//
//   column family "default": what is true for the whole store, and leases
//     "format"                 -> u32 big endian, kFormatVersion
//     "store-id"               -> 16 random bytes, made with the store
//     "revision"               -> u64 big endian, the newest revision
//     "compacted"              -> u64 big endian, the compacted revision
//     "l" lease(u64 BE)        -> varint ttl in seconds
//     "k" lease(u64 BE) key    -> empty; the key hangs on the lease
//   column family "current":   key -> state, as of the newest revision
//     state = varint create_revision, mod_revision, version, lease; the rest is the value
//   column family "log":       revision(u64 BE) index(u32 BE) -> change
//     change = u8 flags (1 put, 2 had a previous state)
//              varint key size, key
//              put:      varint create_revision, version, lease, value size; value
//              previous: varint create_revision, mod_revision, version, lease
//                        varint p, s, m; m bytes
//
// The previous value is kept as what differs from the new one (nothing, for a deletion): its first
// p bytes are the new value's first p, its last s the new value's last s, and the m bytes stand
// between. Updates of objects change a few fields, so this costs little, and with it every change
// in the log can be undone: that is how ranges read older revisions and watches show what was
// there.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kv/types.h"

namespace keelson::kv::format {

inline constexpr uint32_t kFormatVersion = 1;

inline constexpr std::string_view kFormatKey = "format";
inline constexpr std::string_view kStoreIdKey = "store-id";
inline constexpr std::string_view kRevisionKey = "revision";
inline constexpr std::string_view kCompactedKey = "compacted";
inline constexpr std::string_view kLeasePrefix = "l";
inline constexpr std::string_view kLeaseKeyPrefix = "k";

std::string EncodeU32(uint32_t value);
std::string EncodeU64(uint64_t value);
std::optional<uint32_t> DecodeU32(std::string_view bytes);
std::optional<uint64_t> DecodeU64(std::string_view bytes);

void PutVarint(std::string& out, uint64_t value);
// Takes a varint off the front; nullopt when there is none.
std::optional<uint64_t> TakeVarint(std::string_view& in);

// The numbers in front of the value. The whole state is this followed by the value's bytes.
void AppendStateHeader(std::string& out, const KeyValue& kv);
// The result's key and value are copied into one block of their own.
Result<KeyValue> DecodeState(std::string_view key, std::string_view state);

// The revisions in a state without copying it.
struct StateHeader {
  Revision create_revision = 0;
  Revision mod_revision = 0;
  int64_t version = 0;
  LeaseId lease = 0;
  std::string_view value;
};
std::optional<StateHeader> ParseState(std::string_view state);

using LogKey = std::array<char, 12>;
LogKey MakeLogKey(Revision revision, uint32_t index);
inline std::string_view View(const LogKey& key) { return {key.data(), key.size()}; }
struct LogPosition {
  Revision revision = 0;
  uint32_t index = 0;
};
std::optional<LogPosition> ParseLogKey(std::string_view bytes);

// A change is written in up to four parts so that values need not be copied to join them:
// head, new value, middle, and what of the old value differs.
struct ChangeParts {
  std::string head;
  std::string_view value;
  std::string middle;
  std::string_view difference;
};
void EncodeChange(const Event& event, ChangeParts& parts);
std::string EncodeChange(const Event& event);

// The key a change is about, without decoding the rest.
std::optional<std::string_view> ChangeKey(std::string_view change);
// `revision` is the change's own, from its log key.
Result<Event> DecodeChange(Revision revision, std::string_view change);

std::string LeaseRowKey(LeaseId id);
std::string LeaseKeyRowPrefix(LeaseId id);
std::string LeaseKeyRow(LeaseId id, std::string_view key);
std::optional<LeaseId> ParseLeaseRowKey(std::string_view row);

}  // namespace keelson::kv::format
