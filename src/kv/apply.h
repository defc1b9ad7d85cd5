#pragma once

// Deciding transactions, apart from where the keys are kept.
//
// An Application takes transactions one after the other on top of a state it looks keys up in, and
// gathers the events they amount to. Each transaction sees those before it, so a whole group can be
// decided first and then written at once. Not thread-safe; lives on the thread that commits.

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kv/types.h"

namespace keelson::kv {

struct Limits {
  size_t operations = 1024;             // per transaction
  size_t bytes = size_t{8} << 20;       // keys and values of one transaction
  size_t key_bytes = size_t{16} << 10;  // of one key
};

// Whether the transaction is well formed and within the limits. Needs no state, so it is done on
// the caller's thread.
Result<void> Validate(const Transaction& transaction, const Limits& limits);

class Application {
 public:
  // The key's current state before this group; !exists() when absent. May fail (disk).
  using Lookup = std::function<Result<KeyValue>(std::string_view key)>;
  using LeaseExists = std::function<bool(LeaseId)>;

  Application(Revision revision, Lookup lookup, LeaseExists lease_exists);

  // The key's state before this group, so that it need not be looked up.
  void Know(std::string_view key, KeyValue state) {
    seen_.try_emplace(std::string(key), std::move(state));
  }
  bool Knows(std::string_view key) const { return seen_.contains(key); }

  // A failure leaves the gathered events as they were.
  Result<TransactionResult> Apply(const Transaction& transaction);

  // The revision after all transactions so far, and their events in order.
  Revision revision() const { return revision_; }
  const std::vector<Event>& events() const { return events_; }

 private:
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };

  Result<KeyValue> Current(const std::string& key);
  static Event MakeEvent(const Operation& operation, KeyValue previous, Revision revision);

  Revision revision_;
  Lookup lookup_;
  LeaseExists lease_exists_;
  std::vector<Event> events_;
  // What the group has read and changed so far.
  std::unordered_map<std::string, KeyValue, KeyHash, std::equal_to<>> seen_;
};

}  // namespace keelson::kv
