#pragma once

// Protobuf messages field by field, for protocols of which only a few messages are needed. What the
// fields mean is up to the caller; unknown ones are skipped by not asking for them.
//
// Objects of the API are another matter: schema/protobuf.h follows their types.

#include <cstdint>
#include <string>
#include <string_view>

namespace keelson::grpc {

// Writes one message. Zero numbers and empty bytes are left out unless said otherwise, as proto3
// has it.
class MessageWriter {
 public:
  void Int(uint32_t field, int64_t value) {
    if (value != 0) SetInt(field, value);
  }
  // Also when zero: a member of a oneof.
  void SetInt(uint32_t field, int64_t value) {
    Varint(uint64_t{field} << 3);
    Varint(static_cast<uint64_t>(value));
  }
  void Bool(uint32_t field, bool value) {
    if (value) SetInt(field, 1);
  }
  void Bytes(uint32_t field, std::string_view value) {
    if (value.empty()) return;
    Varint(uint64_t{field} << 3 | kBytes);
    Varint(value.size());
    out_.append(value);
  }
  // A message inside: `write(writer)` writes its fields. Its size goes into a number of fixed
  // length, written when it is known, so that nothing is copied.
  template <typename Write>
  void Message(uint32_t field, Write&& write) {
    Varint(uint64_t{field} << 3 | kBytes);
    const size_t at = out_.size();
    out_.append(kSizeBytes, '\0');
    write(*this);
    uint64_t size = out_.size() - at - kSizeBytes;
    for (size_t i = 0; i < kSizeBytes; ++i, size >>= 7) {
      out_[at + i] = static_cast<char>((size & 0x7f) | (i + 1 < kSizeBytes ? 0x80 : 0));
    }
  }

  void Reserve(size_t size) { out_.reserve(size); }
  std::string Take() { return std::move(out_); }

 private:
  static constexpr uint64_t kBytes = 2;
  static constexpr size_t kSizeBytes = 5;

  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }

  std::string out_;
};

// Reads one message: while (fields.Next()) switch (fields.number()) ... ; then ok() tells whether
// it was whole. Nothing is read past the end, whatever the bytes say.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  bool Next();
  uint32_t number() const { return number_; }
  // 0 and "" when the field is of another wire type.
  int64_t AsInt() const { return static_cast<int64_t>(value_); }
  bool AsBool() const { return value_ != 0; }
  std::string_view AsBytes() const { return bytes_; }

  bool ok() const { return ok_; }

 private:
  bool Varint(uint64_t& value);
  bool Skip(size_t size);

  std::string_view rest_;
  uint32_t number_ = 0;
  uint64_t value_ = 0;
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace keelson::grpc
