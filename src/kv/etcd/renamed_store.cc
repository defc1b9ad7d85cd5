#include "kv/etcd/renamed_store.h"

#include <utility>

namespace keelson::kv::etcd {
namespace {

struct Names {
  std::string outside;
  std::string inside;

  std::string In(std::string_view key) const { return Replace(key, outside, inside); }
  std::string Out(std::string_view key) const { return Replace(key, inside, outside); }
  KeyRange In(const KeyRange& range) const {
    // The end of a prefix lies just behind it.
    KeyRange behind = KeyRange::Prefix(outside);
    std::string end = range.end == behind.end ? KeyRange::Prefix(inside).end : In(range.end);
    return {In(range.start), std::move(end)};
  }
  void Out(KeyValue& kv) const {
    if (kv.key.view().starts_with(inside)) kv.key = Slice::Own(Out(kv.key.view()));
  }

 private:
  static std::string Replace(std::string_view key, const std::string& from, const std::string& to) {
    return key.starts_with(from) ? to + std::string(key.substr(from.size())) : std::string(key);
  }
};

class RenamedWatch final : public Watch {
 public:
  RenamedWatch(std::unique_ptr<Watch> watch, std::shared_ptr<const Names> names)
      : watch_(std::move(watch)), names_(std::move(names)) {}

  Task<Result<WatchBatch>> Next(Call call) override {
    CO_TRY(auto batch, co_await watch_->Next(std::move(call)));
    for (auto& event : batch.events) {
      names_->Out(event.kv);
      names_->Out(event.previous);
    }
    co_return batch;
  }
  void RequestProgress() override { watch_->RequestProgress(); }
  Revision Delivered() const override { return watch_->Delivered(); }
  void Cancel() override { watch_->Cancel(); }
  Revision CompactedRevision() const override { return watch_->CompactedRevision(); }

 private:
  const std::unique_ptr<Watch> watch_;
  const std::shared_ptr<const Names> names_;
};

class RenamedStore final : public Store {
 public:
  RenamedStore(std::unique_ptr<Store> store, Names names)
      : store_(std::move(store)), names_(std::make_shared<const Names>(std::move(names))) {}

  Task<Result<GetResult>> Get(std::string key, Call call) override {
    CO_TRY(auto result, co_await store_->Get(names_->In(key), std::move(call)));
    if (result.item) names_->Out(*result.item);
    co_return result;
  }
  Task<Result<RangeResult>> Range(RangeRequest request, Call call) override {
    request.range = names_->In(request.range);
    CO_TRY(auto result, co_await store_->Range(std::move(request), std::move(call)));
    for (auto& item : result.items) names_->Out(item);
    co_return result;
  }
  Task<Result<TransactionResult>> Commit(Transaction transaction, Call call) override {
    for (auto& compare : transaction.compares) compare.key = names_->In(compare.key);
    for (auto& operation : transaction.operations) operation.key = names_->In(operation.key);
    for (auto& key : transaction.read_on_failure) key = names_->In(key);
    CO_TRY(auto result, co_await store_->Commit(std::move(transaction), std::move(call)));
    for (auto& kv : result.previous) names_->Out(kv);
    for (auto& kv : result.current) names_->Out(kv);
    co_return result;
  }
  Result<std::unique_ptr<Watch>> StartWatch(WatchRequest request) override {
    request.range = names_->In(request.range);
    TRY(auto watch, store_->StartWatch(std::move(request)));
    return std::make_unique<RenamedWatch>(std::move(watch), names_);
  }
  Task<Result<Lease>> GetLease(LeaseId id, Call call) override {
    CO_TRY(auto lease, co_await store_->GetLease(id, std::move(call)));
    for (auto& key : lease.keys) key = names_->Out(key);
    co_return lease;
  }

  Task<Result<void>> Compact(Revision revision, Call call) override {
    return store_->Compact(revision, std::move(call));
  }
  Task<Result<Lease>> GrantLease(Duration ttl, LeaseId id, Call call) override {
    return store_->GrantLease(ttl, id, std::move(call));
  }
  Task<Result<Lease>> KeepAlive(LeaseId id, Call call) override {
    return store_->KeepAlive(id, std::move(call));
  }
  Task<Result<void>> RevokeLease(LeaseId id, Call call) override {
    return store_->RevokeLease(id, std::move(call));
  }
  Task<Result<Revision>> CurrentRevision(Call call) override {
    return store_->CurrentRevision(std::move(call));
  }
  Revision KnownRevision() const override { return store_->KnownRevision(); }
  Revision CompactedRevision() const override { return store_->CompactedRevision(); }
  Task<Result<void>> Health(Call call) override { return store_->Health(std::move(call)); }
  Task<void> Close() override { return store_->Close(); }

 private:
  const std::unique_ptr<Store> store_;
  const std::shared_ptr<const Names> names_;
};

}  // namespace

std::unique_ptr<Store> Rename(std::unique_ptr<Store> store, std::string outside,
                              std::string inside) {
  return std::make_unique<RenamedStore>(std::move(store),
                                        Names{std::move(outside), std::move(inside)});
}

}  // namespace keelson::kv::etcd
