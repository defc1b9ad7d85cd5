#include "kv/apply.h"

#include <algorithm>
#include <utility>

namespace keelson::kv {

Result<void> Validate(const Transaction& transaction, const Limits& limits) {
  const auto& operations = transaction.operations;
  if (operations.size() > limits.operations || transaction.compares.size() > limits.operations ||
      transaction.read_on_failure.size() > limits.operations) {
    return Fail(ErrorCode::kTooLarge, "a transaction may have {} operations", limits.operations);
  }
  size_t bytes = 0;
  for (const auto& operation : operations) {
    if (operation.key.empty()) return Fail(ErrorCode::kInvalid, "a key must not be empty");
    if (operation.key.size() > limits.key_bytes) {
      return Fail(ErrorCode::kTooLarge, "a key of {} bytes; the limit is {}", operation.key.size(),
                  limits.key_bytes);
    }
    bytes += operation.key.size() + operation.value.size();
  }
  if (bytes > limits.bytes) {
    return Fail(ErrorCode::kTooLarge, "a transaction of {} bytes; the limit is {}", bytes,
                limits.bytes);
  }
  if (operations.size() > 1) {
    std::vector<std::string_view> keys;
    keys.reserve(operations.size());
    for (const auto& operation : operations) keys.push_back(operation.key);
    std::sort(keys.begin(), keys.end());
    auto twin = std::adjacent_find(keys.begin(), keys.end());
    if (twin != keys.end()) {
      return Fail(ErrorCode::kInvalid, "key \"{}\" stands twice in one transaction", *twin);
    }
  }
  return {};
}

Application::Application(Revision revision, Lookup lookup, LeaseExists lease_exists)
    : revision_(revision), lookup_(std::move(lookup)), lease_exists_(std::move(lease_exists)) {}

Result<KeyValue> Application::Current(const std::string& key) {
  if (auto found = seen_.find(key); found != seen_.end()) return found->second;
  TRY(KeyValue current, lookup_(key));
  seen_.emplace(key, current);
  return current;
}

Event Application::MakeEvent(const Operation& operation, KeyValue previous, Revision revision) {
  Event event;
  event.kv.key = previous.exists() ? previous.key : Slice::Copy(operation.key);
  event.kv.mod_revision = revision;
  if (operation.type == Operation::Type::kPut) {
    event.kv.value = operation.value;
    event.kv.create_revision = previous.exists() ? previous.create_revision : revision;
    event.kv.version = previous.version + 1;
    event.kv.lease = operation.lease;
  } else {
    event.type = Event::Type::kDelete;
  }
  event.previous = std::move(previous);
  return event;
}

Result<TransactionResult> Application::Apply(const Transaction& transaction) {
  TransactionResult result;
  result.succeeded = true;
  for (const auto& compare : transaction.compares) {
    TRY(KeyValue current, Current(compare.key));
    if (!compare.Holds(current)) {
      result.succeeded = false;
      break;
    }
  }
  if (!result.succeeded) {
    for (const auto& key : transaction.read_on_failure) {
      TRY(KeyValue current, Current(key));
      result.current.push_back(std::move(current));
    }
    result.revision = revision_;
    return result;
  }

  size_t first = events_.size();
  for (const auto& operation : transaction.operations) {
    auto previous = Current(operation.key);
    if (previous && operation.type == Operation::Type::kPut && operation.lease != 0 &&
        !lease_exists_(operation.lease)) {
      previous = Fail(ErrorCode::kNotFound, "lease {} does not exist", operation.lease);
    }
    if (!previous) {
      events_.resize(first);
      return std::unexpected(previous.error());
    }
    if (transaction.want_previous) result.previous.push_back(*previous);
    if (operation.type == Operation::Type::kDelete && !previous->exists()) continue;
    events_.push_back(MakeEvent(operation, *std::move(previous), revision_ + 1));
  }
  for (size_t i = first; i < events_.size(); ++i) {
    const Event& event = events_[i];
    KeyValue after = event.type == Event::Type::kPut ? event.kv : KeyValue{};
    seen_.insert_or_assign(std::string(event.kv.key.view()), std::move(after));
  }
  if (events_.size() > first) ++revision_;
  result.revision = revision_;
  return result;
}

}  // namespace keelson::kv
