#include "kv/rocksdb/format.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace keelson::kv::format {
namespace {

enum ChangeFlags : uint8_t { kPut = 1, kHadPrevious = 2 };

template <typename T>
T BigEndian(T value) {
  static_assert(std::endian::native == std::endian::little);
  return std::byteswap(value);
}

template <typename T>
std::string EncodeFixed(T value) {
  value = BigEndian(value);
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
std::optional<T> DecodeFixed(std::string_view bytes) {
  if (bytes.size() != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return BigEndian(value);
}

// Reads numbers and bytes off a change or a state; remembers whether all of them were there.
class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}

  int64_t Number() {
    auto value = TakeVarint(in_);
    if (!value || *value > INT64_MAX) {
      ok_ = false;
      return 0;
    }
    return static_cast<int64_t>(*value);
  }
  std::string_view Bytes(int64_t size) {
    if (!ok_ || static_cast<uint64_t>(size) > in_.size()) {
      ok_ = false;
      return {};
    }
    auto bytes = in_.substr(0, size);
    in_.remove_prefix(size);
    return bytes;
  }
  std::string_view rest() const { return in_; }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && in_.empty(); }

 private:
  std::string_view in_;
  bool ok_ = true;
};

size_t CommonPrefix(std::string_view a, std::string_view b) {
  size_t limit = std::min(a.size(), b.size());
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= limit; i += sizeof(uint64_t)) {
    uint64_t x, y;
    std::memcpy(&x, a.data() + i, sizeof(x));
    std::memcpy(&y, b.data() + i, sizeof(y));
    if (x != y) return i + std::countr_zero(x ^ y) / 8;
  }
  while (i < limit && a[i] == b[i]) ++i;
  return i;
}

size_t CommonSuffix(std::string_view a, std::string_view b) {
  size_t limit = std::min(a.size(), b.size());
  const char* end_a = a.data() + a.size();
  const char* end_b = b.data() + b.size();
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= limit; i += sizeof(uint64_t)) {
    uint64_t x, y;
    std::memcpy(&x, end_a - i - sizeof(x), sizeof(x));
    std::memcpy(&y, end_b - i - sizeof(y), sizeof(y));
    if (x != y) return i + std::countl_zero(x ^ y) / 8;
  }
  while (i < limit &&
         end_a[-1 - static_cast<ptrdiff_t>(i)] == end_b[-1 - static_cast<ptrdiff_t>(i)]) {
    ++i;
  }
  return i;
}

std::unexpected<Error> FailChange(Revision revision) {
  return Fail(ErrorCode::kCorrupt, "the log's change at revision {} does not decode", revision);
}

// Key and value in one block.
void Hold(KeyValue& kv, std::string_view key, std::string_view value) {
  Slice block = Slice::Make(key.size() + value.size(), [&](char* out) {
    key.copy(out, key.size());
    value.copy(out + key.size(), value.size());
  });
  kv.key = block.Sub(0, key.size());
  kv.value = block.Sub(key.size());
}

}  // namespace

std::string EncodeU32(uint32_t value) { return EncodeFixed(value); }
std::string EncodeU64(uint64_t value) { return EncodeFixed(value); }
std::optional<uint32_t> DecodeU32(std::string_view bytes) { return DecodeFixed<uint32_t>(bytes); }
std::optional<uint64_t> DecodeU64(std::string_view bytes) { return DecodeFixed<uint64_t>(bytes); }

void PutVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

std::optional<uint64_t> TakeVarint(std::string_view& in) {
  uint64_t value = 0;
  for (size_t i = 0; i < in.size() && i < 10; ++i) {
    auto byte = static_cast<unsigned char>(in[i]);
    if (i == 9 && byte > 1) return std::nullopt;
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

void AppendStateHeader(std::string& out, const KeyValue& kv) {
  PutVarint(out, kv.create_revision);
  PutVarint(out, kv.mod_revision);
  PutVarint(out, kv.version);
  PutVarint(out, kv.lease);
}

std::optional<StateHeader> ParseState(std::string_view state) {
  Reader reader(state);
  StateHeader header;
  header.create_revision = reader.Number();
  header.mod_revision = reader.Number();
  header.version = reader.Number();
  header.lease = reader.Number();
  header.value = reader.rest();
  if (!reader.ok() || header.create_revision <= 0 || header.version <= 0 ||
      header.mod_revision < header.create_revision) {
    return std::nullopt;
  }
  return header;
}

Result<KeyValue> DecodeState(std::string_view key, std::string_view state) {
  auto header = ParseState(state);
  if (!header) return Fail(ErrorCode::kCorrupt, "the state of key \"{}\" does not decode", key);
  KeyValue kv;
  kv.create_revision = header->create_revision;
  kv.mod_revision = header->mod_revision;
  kv.version = header->version;
  kv.lease = header->lease;
  Hold(kv, key, header->value);
  return kv;
}

LogKey MakeLogKey(Revision revision, uint32_t index) {
  LogKey key;
  uint64_t r = BigEndian(static_cast<uint64_t>(revision));
  uint32_t i = BigEndian(index);
  std::memcpy(key.data(), &r, sizeof(r));
  std::memcpy(key.data() + sizeof(r), &i, sizeof(i));
  return key;
}

std::optional<LogPosition> ParseLogKey(std::string_view bytes) {
  if (bytes.size() != sizeof(LogKey)) return std::nullopt;
  uint64_t revision = *DecodeU64(bytes.substr(0, 8));
  if (revision == 0 || revision > INT64_MAX) return std::nullopt;
  return LogPosition{static_cast<Revision>(revision), *DecodeU32(bytes.substr(8))};
}

void EncodeChange(const Event& event, ChangeParts& parts) {
  bool put = event.type == Event::Type::kPut;
  const KeyValue& previous = event.previous;
  std::string& head = parts.head;
  head.assign(1, static_cast<char>((put ? kPut : 0) | (previous.exists() ? kHadPrevious : 0)));
  PutVarint(head, event.kv.key.size());
  head.append(event.kv.key.view());
  parts.value = {};
  if (put) {
    PutVarint(head, event.kv.create_revision);
    PutVarint(head, event.kv.version);
    PutVarint(head, event.kv.lease);
    PutVarint(head, event.kv.value.size());
    parts.value = event.kv.value.view();
  }
  parts.middle.clear();
  parts.difference = {};
  if (!previous.exists()) return;
  AppendStateHeader(parts.middle, previous);
  std::string_view before = previous.value.view();
  size_t prefix = CommonPrefix(before, parts.value);
  size_t suffix = CommonSuffix(before.substr(prefix), parts.value.substr(prefix));
  parts.difference = before.substr(prefix, before.size() - prefix - suffix);
  PutVarint(parts.middle, prefix);
  PutVarint(parts.middle, suffix);
  PutVarint(parts.middle, parts.difference.size());
}

std::string EncodeChange(const Event& event) {
  ChangeParts parts;
  EncodeChange(event, parts);
  std::string joined = std::move(parts.head);
  joined.append(parts.value).append(parts.middle).append(parts.difference);
  return joined;
}

std::optional<std::string_view> ChangeKey(std::string_view change) {
  if (change.empty()) return std::nullopt;
  Reader reader(change.substr(1));
  auto key = reader.Bytes(reader.Number());
  if (!reader.ok()) return std::nullopt;
  return key;
}

Result<Event> DecodeChange(Revision revision, std::string_view change) {
  if (change.empty()) return FailChange(revision);
  auto flags = static_cast<uint8_t>(change[0]);
  if ((flags & ~(kPut | kHadPrevious)) != 0) return FailChange(revision);
  Reader reader(change.substr(1));
  Event event;
  event.type = (flags & kPut) != 0 ? Event::Type::kPut : Event::Type::kDelete;
  std::string_view key = reader.Bytes(reader.Number());
  std::string_view value;
  event.kv.mod_revision = revision;
  if ((flags & kPut) != 0) {
    event.kv.create_revision = reader.Number();
    event.kv.version = reader.Number();
    event.kv.lease = reader.Number();
    value = reader.Bytes(reader.Number());
  }
  if (!reader.ok() || key.empty()) return FailChange(revision);
  Hold(event.kv, key, value);
  if ((flags & kHadPrevious) != 0) {
    KeyValue& previous = event.previous;
    previous.create_revision = reader.Number();
    previous.mod_revision = reader.Number();
    previous.version = reader.Number();
    previous.lease = reader.Number();
    uint64_t prefix = reader.Number();
    uint64_t suffix = reader.Number();
    std::string_view difference = reader.Bytes(reader.Number());
    bool fits = prefix <= value.size() && suffix <= value.size() - prefix;
    if (!reader.ok() || !fits || previous.mod_revision <= 0) return FailChange(revision);
    previous.key = event.kv.key;
    previous.value = Slice::Make(prefix + difference.size() + suffix, [&](char* out) {
      value.copy(out, prefix);
      difference.copy(out + prefix, difference.size());
      value.copy(out + prefix + difference.size(), suffix, value.size() - suffix);
    });
  }
  if (!reader.done()) return FailChange(revision);
  return event;
}

std::string LeaseRowKey(LeaseId id) { return std::string(kLeasePrefix) + EncodeU64(id); }
std::string LeaseKeyRowPrefix(LeaseId id) { return std::string(kLeaseKeyPrefix) + EncodeU64(id); }
std::string LeaseKeyRow(LeaseId id, std::string_view key) {
  return LeaseKeyRowPrefix(id).append(key);
}
std::optional<LeaseId> ParseLeaseRowKey(std::string_view row) {
  if (row.size() < 9) return std::nullopt;
  return static_cast<LeaseId>(*DecodeU64(row.substr(1, 8)));
}

}  // namespace keelson::kv::format
