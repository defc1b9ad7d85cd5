#include "kv/rocksdb/reader.h"

#include <rocksdb/iterator.h>
#include <rocksdb/snapshot.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "kv/rocksdb/format.h"

namespace keelson::kv {
namespace {

// Looking at the caller's stop token for every key would cost more than reading it.
constexpr int kKeysBetweenChecks = 1024;

Result<void> CheckStop(const Call& call, int64_t step) {
  if (step % kKeysBetweenChecks == 0 && call.stop.stop_requested()) {
    return Fail(ErrorCode::kCancelled, "the caller gave up");
  }
  return {};
}

// Puts the keys and values of one answer into shared blocks: an allocation for each of them would
// cost as much as reading it.
class Packer {
 public:
  Result<KeyValue> Take(std::string_view key, std::string_view state, bool with_value) {
    auto header = format::ParseState(state);
    if (!header) return Fail(ErrorCode::kCorrupt, "the state of key \"{}\" does not decode", key);
    std::string_view value = with_value ? header->value : std::string_view();
    KeyValue kv{.create_revision = header->create_revision,
                .mod_revision = header->mod_revision,
                .version = header->version,
                .lease = header->lease};
    if (key.size() + value.size() > block_.size() - used_) NewBlock(key.size() + value.size());
    kv.key = Pack(key);
    kv.value = Pack(value);
    return kv;
  }

 private:
  void NewBlock(size_t size) {
    // Small answers get small blocks.
    next_size_ = std::min(2 * std::max(size, next_size_), kMostBytes);
    block_ = Slice::Make(std::max(size, next_size_), [&](char* begin) { begin_ = begin; });
    used_ = 0;
  }
  Slice Pack(std::string_view bytes) {
    bytes.copy(begin_ + used_, bytes.size());
    Slice packed = block_.Sub(used_, bytes.size());
    used_ += bytes.size();
    return packed;
  }

  static constexpr size_t kMostBytes = size_t{64} << 10;
  Slice block_;
  char* begin_ = nullptr;
  size_t used_ = 0;
  size_t next_size_ = 0;
};

}  // namespace

// One instant of the store.
struct StateReader::View {
  explicit View(Database& d) : database(d), snapshot(&d.db()) {
    read.snapshot = snapshot.snapshot();
  }

  // Bounded to `range`; the view keeps the bound's bytes.
  std::unique_ptr<rocksdb::Iterator> Keys(const KeyRange& range, bool large) {
    rocksdb::ReadOptions options = read;
    upper = range.end;
    upper_slice = ToRocks(upper);
    if (!upper.empty()) options.iterate_upper_bound = &upper_slice;
    if (large) {
      options.fill_cache = false;
      options.readahead_size = size_t{1} << 20;
    }
    std::unique_ptr<rocksdb::Iterator> keys(database.db().NewIterator(options, database.current()));
    keys->Seek(ToRocks(range.start));
    return keys;
  }

  std::unique_ptr<rocksdb::Iterator> Log(Revision from) {
    rocksdb::ReadOptions options = read;
    options.fill_cache = false;
    options.readahead_size = size_t{256} << 10;
    std::unique_ptr<rocksdb::Iterator> log(database.db().NewIterator(options, database.log()));
    log->Seek(ToRocks(format::View(format::MakeLogKey(from, 0))));
    return log;
  }

  Database& database;
  rocksdb::ManagedSnapshot snapshot;
  rocksdb::ReadOptions read;
  std::string upper;
  rocksdb::Slice upper_slice;
};

Result<std::optional<GetResult>> StateReader::Get(std::string_view key, bool memory_only) {
  View view(database_);
  if (memory_only) view.read.read_tier = rocksdb::kBlockCacheTier;
  TRY(auto revision, database_.ReadRevision(view.read));
  TRY(auto kv, database_.ReadState(view.read, key));
  if (!revision || !kv) return std::nullopt;
  GetResult result{.revision = *revision};
  if (kv->exists()) result.item = *std::move(kv);
  return result;
}

Result<void> StateReader::CheckRevision(Revision revision, Revision now) const {
  if (revision < 0 || revision > now) {
    return Fail(ErrorCode::kInvalid, "revision {} does not exist yet; now is {}", revision, now);
  }
  if (Revision compacted = compacted_.load(); revision < compacted) {
    return Fail(ErrorCode::kExpired, "revision {} was compacted, up to {}", revision, compacted);
  }
  return {};
}

Result<StateReader::FirstChanges> StateReader::FindChanges(rocksdb::Iterator& log,
                                                           const KeyRange& range,
                                                           const Call& call) {
  FirstChanges changes;
  for (int64_t step = 1; log.Valid(); log.Next(), ++step) {
    TRY_VOID(CheckStop(call, step));
    auto position = format::ParseLogKey(FromRocks(log.key()));
    auto key = format::ChangeKey(FromRocks(log.value()));
    if (!position || !key) return Fail(ErrorCode::kCorrupt, "a row of the log does not decode");
    if (!range.Contains(*key) || changes.contains(*key)) continue;
    changes.emplace(*key, format::MakeLogKey(position->revision, position->index));
  }
  if (!log.status().ok()) {
    return std::unexpected(database_.ToError(log.status(), "reading the log"));
  }
  return changes;
}

// Two ordered streams, keys as they are now and keys changed since; of a key in both, the change
// tells what it was.
class StateReader::Merge {
 public:
  Merge(std::unique_ptr<rocksdb::Iterator> keys, std::unique_ptr<rocksdb::Iterator> log,
        FirstChanges changes)
      : keys_(std::move(keys)), log_(std::move(log)), changes_(std::move(changes)) {}

  bool Valid() const { return keys_->Valid() || !changes_.empty(); }
  rocksdb::Status status() const { return keys_->status(); }

  // Whether the key stood there at the revision, found without copying it. Changes the iterator's
  // view of the log, so Take goes right after it.
  Result<bool> Exists() {
    if (!AtChange()) return true;
    auto place = format::View(changes_.begin()->second);
    log_->Seek(ToRocks(place));
    if (!log_->Valid() || FromRocks(log_->key()) != place) {
      return Fail(ErrorCode::kCorrupt, "the log lost a row while it was read");
    }
    auto position = format::ParseLogKey(place);
    TRY(event_, format::DecodeChange(position->revision, FromRocks(log_->value())));
    return event_.previous.exists();
  }

  Result<KeyValue> Take(bool with_value) {
    if (!AtChange()) {
      return packer_.Take(FromRocks(keys_->key()), FromRocks(keys_->value()), with_value);
    }
    if (!with_value) event_.previous.value = {};
    return std::move(event_.previous);
  }

  void Next() {
    if (!AtChange()) {
      keys_->Next();
      return;
    }
    if (keys_->Valid() && FromRocks(keys_->key()) == changes_.begin()->first) keys_->Next();
    changes_.erase(changes_.begin());
  }

 private:
  bool AtChange() const {
    if (changes_.empty()) return false;
    return !keys_->Valid() || changes_.begin()->first <= FromRocks(keys_->key());
  }

  std::unique_ptr<rocksdb::Iterator> keys_;
  std::unique_ptr<rocksdb::Iterator> log_;
  FirstChanges changes_;
  Event event_;
  Packer packer_;
};

Result<RangeResult> StateReader::Range(const RangeRequest& request, const Call& call) {
  View view(database_);
  TRY(auto now, database_.ReadRevision(view.read));
  Revision at = request.revision == 0 ? *now : request.revision;
  bool large = request.limit == 0 || request.limit > 1000;
  auto keys = view.Keys(request.range, large);
  std::unique_ptr<rocksdb::Iterator> log;
  if (at < *now) log = view.Log(at + 1);
  // History is deleted only after `compacted_` was raised, and an iterator keeps the files it was
  // made on: what this check lets pass stays readable.
  TRY_VOID(CheckRevision(at, *now));
  FirstChanges changes;
  if (log) {
    TRY(changes, FindChanges(*log, request.range, call));
  }

  RangeResult result{.revision = *now};
  bool counting = request.want_count || request.count_only;
  Merge merge(std::move(keys), std::move(log), std::move(changes));
  for (int64_t step = 1; merge.Valid(); merge.Next(), ++step) {
    TRY_VOID(CheckStop(call, step));
    TRY(bool exists, merge.Exists());
    if (!exists) continue;
    ++result.count;
    if (request.count_only) continue;
    if (request.limit > 0 && static_cast<int64_t>(result.items.size()) >= request.limit) {
      result.more = true;
      if (!counting) break;
      continue;
    }
    TRY(KeyValue kv, merge.Take(!request.keys_only));
    result.items.push_back(std::move(kv));
  }
  if (!merge.status().ok()) {
    return std::unexpected(database_.ToError(merge.status(), "reading keys"));
  }
  if (!counting) result.count = 0;
  return result;
}

Result<EventLog::Chunk> StateReader::ReadLog(const KeyRange& range, Revision from, size_t bytes) {
  View view(database_);
  TRY(auto now, database_.ReadRevision(view.read));
  auto log = view.Log(from);
  if (Revision compacted = compacted_.load(); from <= compacted) {
    return Fail(ErrorCode::kExpired, "revision {} was compacted, up to {}", from, compacted);
  }
  EventLog::Chunk chunk{.through = *now};
  size_t taken = 0;
  for (; log->Valid(); log->Next()) {
    auto position = format::ParseLogKey(FromRocks(log->key()));
    auto key = format::ChangeKey(FromRocks(log->value()));
    if (!position || !key) return Fail(ErrorCode::kCorrupt, "a row of the log does not decode");
    if (taken >= std::max(bytes, size_t{1}) && position->index == 0) {
      chunk.through = position->revision - 1;
      break;
    }
    // Changes outside the range cost reading, too.
    taken += range.Contains(*key) ? log->value().size() * 2 : log->value().size() / 8;
    if (!range.Contains(*key)) continue;
    TRY(Event event, format::DecodeChange(position->revision, FromRocks(log->value())));
    chunk.events.push_back(std::move(event));
  }
  if (!log->status().ok()) {
    return std::unexpected(database_.ToError(log->status(), "reading the log"));
  }
  return chunk;
}

}  // namespace keelson::kv
