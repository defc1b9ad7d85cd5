#include "kv/etcd/compactor.h"

#include <string>

#include "base/log.h"

namespace keelson::kv::etcd {

Compactor::Compactor(Store& store, Clock& clock, Executor& executor, Duration interval)
    : store_(store), clock_(clock), executor_(executor), interval_(interval) {}

Compactor::~Compactor() = default;

void Compactor::Start() { gate_.Spawn(&executor_, Run()); }

Task<void> Compactor::Stop() {
  stop_.request_stop();
  co_await gate_.Close();
}

Task<void> Compactor::Run() {
  while (co_await SleepFor(clock_, interval_, stop_.get_token())) {
    auto done = co_await Turn();
    if (!done && !stop_.stop_requested()) {
      log::ErrorS("compaction failed", {{"err", done.error().message}});
    }
  }
}

Task<Result<void>> Compactor::Turn() {
  const std::string key(kKey);
  Transaction transaction;
  transaction.compares.push_back(
      {.key = key, .target = Compare::Target::kVersion, .operand = version_});
  transaction.operations.push_back(Operation::Put(key, Slice::Own(std::to_string(revision_))));
  transaction.read_on_failure.push_back(key);
  CO_TRY(auto result, co_await store_.Commit(std::move(transaction),
                                             {.stop = stop_.get_token(), .deadline = {}}));
  const Revision before = std::exchange(revision_, result.revision);
  if (!result.succeeded) {
    version_ = result.current.front().version;
    co_return Result<void>();
  }
  ++version_;
  if (before == 0) co_return Result<void>();
  auto compacted = co_await store_.Compact(before, {.stop = stop_.get_token(), .deadline = {}});
  // Somebody who does not meet us at the key was faster.
  if (!compacted && compacted.error().code != ErrorCode::kExpired) {
    co_return std::unexpected(compacted.error());
  }
  if (log::V(1)) log::InfoS("history was compacted", {{"revision", before}});
  co_return Result<void>();
}

}  // namespace keelson::kv::etcd
