#include "kv/copy.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/completion.h"
#include "base/gate.h"

namespace keelson::kv {
namespace {

// Outside of what servers keep. Its value is the revision of the source that is being copied.
constexpr std::string_view kMark = "keelson/copy";

constexpr int64_t kPage = 500;
// Below what etcd takes in one transaction.
constexpr size_t kOperations = 100;
constexpr size_t kBytes = size_t{1} << 20;
// Writes under way at once while the revision is raised.
constexpr int kRaisers = 128;
constexpr uint64_t kFnvPrime = 1099511628211u;
constexpr uint64_t kFnvStart = 14695981039346656037u;

// The first two parts of a key's path.
std::string ResourceOf(std::string_view key) {
  auto second = key.find('/', 1);
  auto third = second == std::string_view::npos ? second : key.find('/', second + 1);
  return std::string(key.substr(0, third));
}

uint64_t Mix(uint64_t hash, std::string_view bytes) {
  for (char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return (hash ^ bytes.size()) * kFnvPrime;
}

KeyRange After(std::string_view key) { return {std::string(key) + '\0', ""}; }

class Copy {
 public:
  Copy(Store& from, Store& to, CopyOptions options)
      : from_(from), to_(to), options_(std::move(options)) {}

  Task<Result<CopyReport>> Run() {
    CO_TRY(report_.source_revision, co_await from_.CurrentRevision());
    CO_TRY_VOID(co_await Begin());
    CO_TRY_VOID(co_await Raise());
    CO_TRY_VOID(co_await WriteAll());
    CO_TRY_VOID(co_await Compare());
    CO_TRY_VOID(co_await Finish());
    co_return std::move(report_);
  }

 private:
  void Tell(std::string_view what, uint64_t done, uint64_t total) {
    if (options_.progress) options_.progress(what, done, total);
  }
  Result<Slice> Converted(const KeyValue& item) const {
    if (!options_.convert) return item.value;
    auto value = options_.convert(item.key.view(), item.value);
    if (!value) return Annotate(value.error(), item.key.view());
    return value;
  }
  static Transaction One(Operation operation) {
    Transaction transaction;
    transaction.operations.push_back(std::move(operation));
    return transaction;
  }

  Task<Result<void>> Begin();
  Task<Result<void>> Raise();
  Task<void> RaiseSome(std::atomic<int64_t>& left, std::atomic<bool>& failed,
                       std::shared_ptr<Completion<Error>> failure);
  Task<Result<RangeResult>> SourcePage(KeyRange range);
  Task<Result<void>> WriteAll();
  Task<Result<void>> WritePage(std::vector<KeyValue> items);
  Task<Result<LeaseId>> LeaseFor(LeaseId source);
  Task<Result<void>> Compare();
  Task<Result<void>> Finish();

  Store& from_;
  Store& to_;
  const CopyOptions options_;
  CopyReport report_;
  uint64_t total_ = 0;
  uint64_t done_ = 0;
  bool resumed_ = false;
  std::map<LeaseId, LeaseId> leases_;
};

Task<Result<void>> Copy::Begin() {
  CO_TRY(auto mark, co_await to_.Get(std::string(kMark)));
  const auto text = std::to_string(report_.source_revision);
  resumed_ = mark.item && mark.item->value.view() == text;
  CO_TRY(auto there, co_await to_.Range({.range = KeyRange::All(), .count_only = true}));
  if (!resumed_ && there.count > (mark.item ? 1 : 0) && !options_.into_existing) {
    co_return Fail(ErrorCode::kAlreadyExists, "the target is not empty: it has {} keys",
                   there.count);
  }
  resumed_ = resumed_ || there.count > 0;
  CO_TRY_VOID(co_await to_.Commit(One(Operation::Put(std::string(kMark), Slice::Copy(text)))));
  CO_TRY(auto all,
         co_await from_.Range(
             {.range = KeyRange::All(), .revision = report_.source_revision, .count_only = true}));
  total_ = static_cast<uint64_t>(all.count);
  co_return Result<void>();
}

// A store offers no other way to a higher revision than to write.
Task<Result<void>> Copy::Raise() {
  CO_TRY(auto now, co_await to_.CurrentRevision());
  if (now >= report_.source_revision) co_return Result<void>();
  std::atomic<int64_t> left = report_.source_revision - now;
  std::atomic<bool> failed = false;
  auto failure = Completion<Error>::Create();
  Gate raisers;
  for (int i = 0; i < kRaisers; ++i) raisers.Spawn(nullptr, RaiseSome(left, failed, failure));
  co_await raisers.Close();
  if (failed) co_return std::unexpected(co_await Completion<Error>::Wait(failure));
  co_return Result<void>();
}

Task<void> Copy::RaiseSome(std::atomic<int64_t>& left, std::atomic<bool>& failed,
                           std::shared_ptr<Completion<Error>> failure) {
  const auto text = std::to_string(report_.source_revision);
  while (!failed && left.fetch_sub(1) > 0) {
    auto written = co_await to_.Commit(One(Operation::Put(std::string(kMark), Slice::Copy(text))));
    if (written) continue;
    failure->Set(written.error());
    failed = true;
  }
}

Task<Result<RangeResult>> Copy::SourcePage(KeyRange range) {
  return from_.Range(
      {.range = std::move(range), .revision = report_.source_revision, .limit = kPage});
}

Task<Result<void>> Copy::WriteAll() {
  for (KeyRange rest = KeyRange::All();;) {
    CO_TRY(auto page, co_await SourcePage(rest));
    if (page.items.empty()) break;
    rest = After(page.items.back().key.view());
    const bool more = page.more;
    CO_TRY_VOID(co_await WritePage(std::move(page.items)));
    if (!more) break;
  }
  co_return Result<void>();
}

Task<Result<void>> Copy::WritePage(std::vector<KeyValue> items) {
  std::map<std::string, Slice, std::less<>> there;
  if (resumed_) {
    KeyRange span{std::string(items.front().key.view()), After(items.back().key.view()).start};
    CO_TRY(auto present, co_await to_.Range({.range = std::move(span)}));
    for (auto& item : present.items) {
      const bool newer = item.mod_revision > report_.source_revision;
      if (item.lease == 0 && newer) there.emplace(item.key.view(), std::move(item.value));
    }
  }
  Transaction transaction;
  size_t bytes = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto& item = items[i];
    CO_TRY(auto value, Converted(item));
    auto found = there.find(item.key.view());
    const bool same = found != there.end() && found->second.view() == value.view();
    if (!same && item.key.view() != kMark) {
      CO_TRY(LeaseId lease, co_await LeaseFor(item.lease));
      bytes += item.key.size() + value.size();
      transaction.operations.push_back(
          Operation::Put(std::string(item.key.view()), std::move(value), lease));
    }
    const bool last = i + 1 == items.size();
    const size_t next = last ? 0 : items[i + 1].value.size();
    if (transaction.operations.empty() ||
        (!last && transaction.operations.size() < kOperations && bytes + 2 * next < kBytes)) {
      continue;
    }
    report_.written += transaction.operations.size();
    CO_TRY_VOID(co_await to_.Commit(std::exchange(transaction, {})));
    bytes = 0;
  }
  done_ += items.size();
  Tell("copying", done_, total_);
  co_return Result<void>();
}

Task<Result<LeaseId>> Copy::LeaseFor(LeaseId source) {
  if (source == 0) co_return 0;
  if (auto found = leases_.find(source); found != leases_.end()) co_return found->second;
  auto lease = co_await from_.GetLease(source);
  // One that has ended since takes its keys along soon.
  const Duration remaining = lease ? std::max<Duration>(lease->remaining, std::chrono::seconds(1))
                                   : std::chrono::seconds(1);
  CO_TRY(auto granted, co_await to_.GrantLease(remaining));
  leases_[source] = granted.id;
  co_return granted.id;
}

// Both stores side by side. Keys on leases may have gone from either.
Task<Result<void>> Copy::Compare() {
  uint64_t compared = 0;
  for (KeyRange rest = KeyRange::All();;) {
    CO_TRY(auto page, co_await SourcePage(rest));
    if (page.items.empty()) break;
    KeyRange span{rest.start, page.more ? After(page.items.back().key.view()).start : ""};
    CO_TRY(auto copied, co_await to_.Range({.range = span}));
    auto other = copied.items.begin();
    for (const auto& item : page.items) {
      if (item.key.view() == kMark) continue;
      CO_TRY(auto expected, Converted(item));
      while (other != copied.items.end() && other->key.view() < item.key.view()) ++other;
      const bool there = other != copied.items.end() && other->key.view() == item.key.view();
      if (!there && item.lease != 0) continue;
      if (!there || other->value.view() != expected.view() ||
          other->mod_revision <= report_.source_revision) {
        co_return Fail(ErrorCode::kCorrupt, "{} is {} in the target", item.key.view(),
                       there ? "another" : "not");
      }
      auto& part = report_.parts[ResourceOf(item.key.view())];
      ++part.keys;
      part.checksum = Mix(Mix(part.checksum == 0 ? kFnvStart : part.checksum, item.key.view()),
                          expected.view());
    }
    compared += page.items.size();
    Tell("comparing", compared, total_);
    if (!page.more) break;
    rest = After(page.items.back().key.view());
  }
  co_return Result<void>();
}

Task<Result<void>> Copy::Finish() {
  CO_TRY(auto source, co_await from_.CurrentRevision());
  if (source != report_.source_revision) {
    co_return Fail(ErrorCode::kConflict,
                   "the source has changed meanwhile (revision {} became {}): copy it again",
                   report_.source_revision, source);
  }
  CO_TRY(auto done, co_await to_.Commit(One(Operation::Delete(std::string(kMark)))));
  report_.target_revision = done.revision;
  // What it took to get here is nobody's history.
  auto compacted = co_await to_.Compact(done.revision);
  if (!compacted && compacted.error().code != ErrorCode::kExpired) {
    co_return std::unexpected(compacted.error());
  }
  co_return Result<void>();
}

Task<Result<CopyReport>> RunOwned(std::unique_ptr<Copy> copy) { co_return co_await copy->Run(); }

}  // namespace

Task<Result<CopyReport>> CopyStore(Store& from, Store& to, CopyOptions options) {
  return RunOwned(std::make_unique<Copy>(from, to, std::move(options)));
}

}  // namespace keelson::kv
