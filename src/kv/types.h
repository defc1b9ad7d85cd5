#pragma once

// The values that kv::Store speaks in: keys with their revisions, ranges, transactions, events.
//
// The model is etcd's. The whole store has one 64-bit revision; every transaction that changes
// something raises it by one, and all changes of that transaction carry it as their mod revision.
// A key remembers when it was created, when it was last changed, how often it was changed since it
// was created, and the lease it hangs on. Values are Slices: handing one on never copies its bytes.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace keelson::kv {

// 0 is "none" or "now"; an empty store stands at kFirstRevision, so the first change makes 2.
using Revision = int64_t;
inline constexpr Revision kFirstRevision = 1;

using LeaseId = int64_t;  // 0 is no lease

struct KeyValue {
  Slice key;
  Slice value;
  Revision create_revision = 0;
  Revision mod_revision = 0;  // 0 in a KeyValue that stands for "no such key"
  int64_t version = 0;        // 1 when created
  LeaseId lease = 0;

  bool exists() const { return mod_revision != 0; }
};

// Keys from `start` up to, not including, `end`, in byte order. An empty `end` is the end of the
// key space.
struct KeyRange {
  std::string start;
  std::string end;

  static KeyRange All() { return {}; }
  static KeyRange Key(std::string_view key) { return {std::string(key), std::string(key) + '\0'}; }
  // Every key that begins with `prefix`.
  static KeyRange Prefix(std::string_view prefix);

  bool Contains(std::string_view key) const { return key >= start && (end.empty() || key < end); }
  bool operator==(const KeyRange&) const = default;
};

struct RangeRequest {
  KeyRange range;
  Revision revision = 0;    // as of this revision; 0 is now
  int64_t limit = 0;        // at most so many items; 0 is all
  bool keys_only = false;   // leave values empty
  bool count_only = false;  // no items at all, only `count`
  bool want_count = false;  // fill `count`; costs a walk over the whole range
};

struct RangeResult {
  Revision revision = 0;        // the store's revision when it was read; not the one asked for
  std::vector<KeyValue> items;  // in key order
  bool more = false;            // the limit cut the result short
  int64_t count = 0;            // keys in the whole range, when asked for
};

struct GetResult {
  Revision revision = 0;
  std::optional<KeyValue> item;
};

// One condition of a transaction. An absent key has revisions and version 0.
struct Compare {
  enum class Target : uint8_t { kModRevision, kCreateRevision, kVersion, kLease };
  enum class Relation : uint8_t { kEqual, kNotEqual, kLess, kGreater };

  std::string key;
  Target target = Target::kModRevision;
  Relation relation = Relation::kEqual;
  int64_t operand = 0;

  static Compare ModRevision(std::string key, Revision is) {
    return {.key = std::move(key), .operand = is};
  }
  static Compare Absent(std::string key) { return ModRevision(std::move(key), 0); }
  static Compare Exists(std::string key) {
    return {.key = std::move(key), .relation = Relation::kGreater};
  }
  bool Holds(const KeyValue& current) const;
};

// One change. `value` and `lease` mean nothing for a delete.
struct Operation {
  enum class Type : uint8_t { kPut, kDelete };

  Type type = Type::kPut;
  std::string key;
  Slice value;
  LeaseId lease = 0;

  static Operation Put(std::string key, Slice value, LeaseId lease = 0) {
    return {Type::kPut, std::move(key), std::move(value), lease};
  }
  static Operation Delete(std::string key) { return {Type::kDelete, std::move(key), {}, 0}; }
};

// All of `operations` happen when all of `compares` hold, else none. A key may stand in one
// operation only. When the compares do not hold, the keys of `read_on_failure` are read at that
// same instant, so that an optimistic writer can try again without another round trip.
struct Transaction {
  std::vector<Compare> compares;
  std::vector<Operation> operations;
  std::vector<std::string> read_on_failure;
  bool want_previous = false;  // fill TransactionResult::previous

  // What the caller has seen of keys that stand above: their whole states, value and all, as they
  // were at revision `known_at`; !exists() but with its key for one that was not there. A store
  // that can tell that such a key has not changed since need not read it, which saves it half the
  // work of a commit. Others ignore it. It must be true: history is written from it.
  std::vector<KeyValue> known;
  Revision known_at = 0;
};

struct TransactionResult {
  bool succeeded = false;
  // After the transaction: the mod revision of its changes. One that changed nothing (compares
  // failed, or only deletes of absent keys) leaves the store's revision as it was.
  Revision revision = 0;
  // Per operation, what was there before; KeyValue::exists() tells whether anything was.
  std::vector<KeyValue> previous;
  // Per key of read_on_failure.
  std::vector<KeyValue> current;
};

struct Event {
  enum class Type : uint8_t { kPut, kDelete };

  Type type = Type::kPut;
  KeyValue kv;  // after the change; of a deleted key only key and mod_revision (the deletion's)
  KeyValue previous;  // before it, when the watch asked for it; !exists() for a created key

  bool IsCreate() const { return type == Type::kPut && kv.version == 1; }
};

}  // namespace keelson::kv
