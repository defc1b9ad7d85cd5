#include "kv/rocksdb/snapshot.h"

#include <fcntl.h>
#include <rocksdb/iterator.h>
#include <rocksdb/snapshot.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "kv/rocksdb/crc32c.h"
#include "kv/rocksdb/format.h"

namespace keelson::kv {
namespace {

constexpr std::string_view kMagic = "KEELSNAP";
constexpr uint32_t kSnapshotVersion = 1;
constexpr size_t kBlockBytes = size_t{256} << 10;
// No block is larger than one row of the largest transaction and a block before it.
constexpr size_t kMostBlockBytes = size_t{64} << 20;
constexpr uint64_t kRowsBetweenReports = 10000;

// A file that appears under its name only when it is whole and synced.
class NewFile {
 public:
  static Result<NewFile> Create(const std::string& path) {
    std::string temporary = path + ".partial";
    int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return FailErrno(errno, "creating " + temporary);
    return NewFile(path, temporary, fd);
  }
  NewFile(NewFile&& other) noexcept
      : path_(std::move(other.path_)),
        temporary_(std::move(other.temporary_)),
        fd_(std::exchange(other.fd_, -1)) {}
  ~NewFile() {
    if (fd_ < 0) return;
    close(fd_);
    unlink(temporary_.c_str());
  }

  Result<void> Write(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t written = write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return FailErrno(errno, "writing " + temporary_);
      bytes.remove_prefix(written);
      size_ += written;
    }
    return {};
  }

  Result<void> Finish() {
    if (fsync(fd_) != 0) return FailErrno(errno, "syncing " + temporary_);
    close(std::exchange(fd_, -1));
    if (rename(temporary_.c_str(), path_.c_str()) != 0) {
      return FailErrno(errno, "renaming " + temporary_);
    }
    auto parent = std::filesystem::absolute(path_).parent_path();
    int directory = open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || fsync(directory) != 0)
      return FailErrno(errno, "syncing " + parent.string());
    close(directory);
    return {};
  }
  uint64_t size() const { return size_; }

 private:
  NewFile(std::string path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}
  std::string path_, temporary_;
  int fd_;
  uint64_t size_ = 0;
};

class BlockWriter {
 public:
  explicit BlockWriter(NewFile& file) : file_(file) {}

  Result<void> Begin() {
    return file_.Write(std::string(kMagic) + format::EncodeU32(kSnapshotVersion) +
                       format::EncodeU32(format::kFormatVersion));
  }
  Result<void> Add(Family family, std::string_view key, std::string_view value) {
    payload_.push_back(static_cast<char>(family));
    format::PutVarint(payload_, key.size());
    payload_.append(key);
    format::PutVarint(payload_, value.size());
    payload_.append(value);
    ++rows_;
    return payload_.size() < kBlockBytes ? Result<void>() : Flush();
  }
  Result<void> End() {
    TRY_VOID(Flush());
    std::string rows = format::EncodeU64(rows_);
    return file_.Write(format::EncodeU32(0) + format::EncodeU32(Crc32c(0, rows)) + rows);
  }
  uint64_t rows() const { return rows_; }

 private:
  Result<void> Flush() {
    if (payload_.empty()) return {};
    TRY_VOID(
        file_.Write(format::EncodeU32(payload_.size()) + format::EncodeU32(Crc32c(0, payload_))));
    TRY_VOID(file_.Write(payload_));
    payload_.clear();
    return {};
  }

  NewFile& file_;
  std::string payload_;
  uint64_t rows_ = 0;
};

std::unexpected<Error> FailDamaged(const std::string& file, uint64_t offset) {
  return Fail(ErrorCode::kCorrupt, "snapshot {} is damaged at byte {}", file, offset);
}

// Reads exactly `size` bytes, or fails.
Result<std::string> ReadBytes(FILE* in, const std::string& file, size_t size) {
  std::string bytes(size, '\0');
  if (fread(bytes.data(), 1, size, in) != size) {
    if (ferror(in) != 0) return FailErrno(errno, "reading " + file);
    return Fail(ErrorCode::kCorrupt, "snapshot {} ends early, at byte {}", file, ftell(in));
  }
  return bytes;
}

Result<uint64_t> VisitBlock(std::string_view payload, const VisitRow& visit) {
  uint64_t rows = 0;
  for (; !payload.empty(); ++rows) {
    auto family = static_cast<uint8_t>(payload[0]);
    payload.remove_prefix(1);
    std::string_view parts[2];
    for (auto& part : parts) {
      auto size = format::TakeVarint(payload);
      if (!size || *size > payload.size())
        return Fail(ErrorCode::kCorrupt, "a row does not decode");
      part = payload.substr(0, *size);
      payload.remove_prefix(*size);
    }
    if (family > 2) return Fail(ErrorCode::kCorrupt, "a row of an unknown column family");
    TRY_VOID(visit(static_cast<Family>(family), parts[0], parts[1]));
  }
  return rows;
}

}  // namespace

Result<void> InfoCollector::Add(Family family, std::string_view key, std::string_view value) {
  if (family == Family::kCurrent) ++info_.keys;
  if (family == Family::kLog) ++info_.changes;
  if (family != Family::kMeta) return {};
  auto number = format::DecodeU64(value);
  if (key == format::kRevisionKey && number) {
    info_.revision = static_cast<Revision>(*number);
    ++meta_rows_;
  } else if (key == format::kCompactedKey && number) {
    info_.compacted_revision = static_cast<Revision>(*number);
    ++meta_rows_;
  } else if (key == format::kStoreIdKey) {
    for (unsigned char byte : value) info_.store_id += fmt::format("{:02x}", byte);
    ++meta_rows_;
  }
  return {};
}

Result<SnapshotInfo> InfoCollector::Finish() const {
  if (meta_rows_ != 3) return Fail(ErrorCode::kCorrupt, "its meta rows are incomplete");
  return info_;
}

Result<SnapshotInfo> WriteSnapshot(Database& database, const std::string& file,
                                   const Progress& progress) {
  TRY(NewFile out, NewFile::Create(file));
  BlockWriter writer(out);
  InfoCollector info;
  TRY_VOID(writer.Begin());
  auto& db = database.db();
  uint64_t total = 0;
  db.GetAggregatedIntProperty(rocksdb::DB::Properties::kEstimateNumKeys, &total);

  // Iterators made at once on one snapshot: history deleted from now on stays readable to them. An
  // attached database knows no snapshots and needs none; it stands still until told to follow.
  std::optional<rocksdb::ManagedSnapshot> snapshot;
  rocksdb::ReadOptions read;
  if (!database.attached()) read.snapshot = snapshot.emplace(&db).snapshot();
  read.fill_cache = false;
  read.readahead_size = size_t{1} << 20;
  std::vector<rocksdb::Iterator*> made;
  auto status = db.NewIterators(read, {database.meta(), database.current(), database.log()}, &made);
  if (!status.ok()) return std::unexpected(database.ToError(status, "reading the store"));
  std::vector<std::unique_ptr<rocksdb::Iterator>> iterators(made.begin(), made.end());
  for (int family = 0; family < 3; ++family) {
    auto& rows = *iterators[family];
    for (rows.SeekToFirst(); rows.Valid(); rows.Next()) {
      auto key = FromRocks(rows.key()), value = FromRocks(rows.value());
      TRY_VOID(info.Add(static_cast<Family>(family), key, value));
      TRY_VOID(writer.Add(static_cast<Family>(family), key, value));
      if (progress && writer.rows() % kRowsBetweenReports == 0) {
        progress("snapshot", writer.rows(), total);
      }
    }
    if (!rows.status().ok()) {
      return std::unexpected(database.ToError(rows.status(), "reading the store"));
    }
  }
  TRY_VOID(writer.End());
  TRY_VOID(out.Finish());
  if (progress) progress("snapshot", writer.rows(), writer.rows());
  TRY(auto result, info.Finish());
  result.file_bytes = out.size();
  return result;
}

Result<uint64_t> ReadSnapshot(const std::string& file, const VisitRow& visit) {
  std::unique_ptr<FILE, int (*)(FILE*)> in(fopen(file.c_str(), "rbe"), &fclose);
  if (!in) return FailErrno(errno, "opening " + file);
  TRY(std::string head, ReadBytes(in.get(), file, kMagic.size() + 8));
  if (!head.starts_with(kMagic)) return Fail(ErrorCode::kInvalid, "{} is not a snapshot", file);
  auto version = *format::DecodeU32(std::string_view(head).substr(8, 4));
  auto format_version = *format::DecodeU32(std::string_view(head).substr(12, 4));
  if (version > kSnapshotVersion || format_version > format::kFormatVersion) {
    return Fail(ErrorCode::kUnsupported, "snapshot {} was written by a newer program", file);
  }
  uint64_t rows = 0;
  for (;;) {
    uint64_t offset = ftell(in.get());
    TRY(std::string header, ReadBytes(in.get(), file, 8));
    auto size = *format::DecodeU32(std::string_view(header).substr(0, 4));
    auto crc = *format::DecodeU32(std::string_view(header).substr(4));
    if (size > kMostBlockBytes) return FailDamaged(file, offset);
    TRY(std::string payload, ReadBytes(in.get(), file, size == 0 ? 8 : size));
    if (Crc32c(0, payload) != crc) return FailDamaged(file, offset);
    if (size == 0) {
      if (format::DecodeU64(payload) != rows || fgetc(in.get()) != EOF) {
        return FailDamaged(file, offset);
      }
      return rows;
    }
    auto visited = VisitBlock(payload, visit);
    if (!visited)
      return Annotate(visited.error(), fmt::format("snapshot {} byte {}", file, offset));
    rows += *visited;
  }
}

}  // namespace keelson::kv
