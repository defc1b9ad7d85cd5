// Messages are written back to front: a length is known once what it measures is written, so one
// pass suffices and nothing is sized twice.

#include <algorithm>
#include <cstring>
#include <vector>

#include "schema/decode_json.h"
#include "schema/protobuf.h"
#include "value/json.h"
#include "value/quantity.h"
#include "value/timestamp.h"

namespace keelson::schema {
namespace {

using value::Kind;
using value::Member;
using value::Value;

class ReverseBuffer {
 public:
  ReverseBuffer() : storage_(kFirst, '\0'), at_(kFirst) {}

  // Bytes written so far; the difference of two is the size of what came between.
  size_t size() const { return storage_.size() - at_; }

  void Bytes(std::string_view bytes) {
    Room(bytes.size());
    at_ -= bytes.size();
    if (!bytes.empty()) std::memcpy(storage_.data() + at_, bytes.data(), bytes.size());
  }
  void Byte(uint8_t byte) {
    Room(1);
    storage_[--at_] = static_cast<char>(byte);
  }
  void Varint(uint64_t number) {
    if (number < 0x80) {
      Byte(static_cast<uint8_t>(number));
      return;
    }
    char bytes[10];
    size_t count = 0;
    for (; number >= 0x80; number >>= 7) bytes[count++] = static_cast<char>(number | 0x80);
    bytes[count++] = static_cast<char>(number);
    Bytes({bytes, count});
  }
  void Tag(uint32_t number, WireType wire) {
    Varint(uint64_t{number} << 3 | static_cast<uint64_t>(wire));
  }
  // Closes a length-delimited field that was `size()` == `before` when it began.
  void Close(uint32_t number, size_t before) {
    Varint(size() - before);
    Tag(number, WireType::kBytes);
  }
  void String(uint32_t number, std::string_view text) {
    Bytes(text);
    Varint(text.size());
    Tag(number, WireType::kBytes);
  }

  std::string Take() {
    storage_.erase(0, at_);
    return std::move(storage_);
  }

 private:
  static constexpr size_t kFirst = 4096;

  void Room(size_t count) {
    if (at_ >= count) [[likely]]
      return;
    size_t used = size();
    std::string larger(std::max(storage_.size() * 2, used + count + kFirst), '\0');
    std::memcpy(larger.data() + larger.size() - used, storage_.data() + at_, used);
    storage_ = std::move(larger);
    at_ = storage_.size() - used;
  }

  std::string storage_;
  size_t at_;
};

class Encoder {
 public:
  explicit Encoder(ReverseBuffer& out) : out_(out) {}

  void Message(const Type& type, const Value& value) {
    size_t base = slots_.size();
    slots_.resize(base + type.field_count);
    uint32_t hint = 0;
    for (const Member& member : value.members()) {
      // Members share the fields' names and order, so this rarely looks anything up.
      while (hint < type.field_count && type.fields_data[hint].name != member.name) ++hint;
      const Field* field =
          hint < type.field_count ? &type.fields_data[hint++] : type.Find(*member.name);
      if (!field) {
        hint = 0;
        continue;
      }
      if (hint == type.field_count) hint = 0;
      slots_[base + static_cast<size_t>(field - type.fields_data)] = &member.value;
    }
    Fields(type, type, base);
    slots_.resize(base);
  }

 private:
  // The fields of `type` as numbered by `wire_of`, which is the type itself or a part of it; the
  // values stand in slots_ from `base` on.
  void Fields(const Type& type, const Type& wire_of, size_t base) {
    auto wire = wire_of.wire();
    for (size_t i = wire.size(); i > 0; --i) {
      const WireField& w = wire[i - 1];
      if (w.embedded) {
        size_t before = out_.size();
        Fields(*w.embedded, *w.embedded, base + w.field);
        out_.Close(w.number, before);
        continue;
      }
      const Field& field = wire_of.fields_data[w.field];
      const Value* value = slots_[base + w.field];
      if (value && value->is_null()) value = nullptr;
      // Nil pointers, lists and maps are left out, also a list that is a message of its own.
      if (!value && (field.pointer() || w.repeated || field.type->kind == TypeKind::kList))
        continue;
      if (w.repeated) {
        Repeated(*field.type, w.number, *value);
      } else {
        Single(*field.type, w.number, value ? *value : Value());
      }
    }
  }

  void Repeated(const Type& type, uint32_t number, const Value& value) {
    if (type.kind == TypeKind::kMap) {
      Map(type, number, value);
      return;
    }
    auto items = value.items();
    for (size_t i = items.size(); i > 0; --i) Single(*type.element, number, items[i - 1]);
  }

  void Map(const Type& type, uint32_t number, const Value& value) {
    auto members = value.members();
    std::vector<const Member*> sorted;
    auto by_key = [](const Member& a, const Member& b) { return a.key() < b.key(); };
    if (!std::is_sorted(members.begin(), members.end(), by_key)) {
      for (const Member& member : members) sorted.push_back(&member);
      std::sort(sorted.begin(), sorted.end(),
                [&](const Member* a, const Member* b) { return by_key(*a, *b); });
    }
    for (size_t i = members.size(); i > 0; --i) {
      const Member& member = sorted.empty() ? members[i - 1] : *sorted[i - 1];
      size_t before = out_.size();
      Single(*type.element, 2, member.value);
      out_.String(1, member.key());
      out_.Close(number, before);
    }
  }

  // One value with its tag; null stands for the zero of the type.
  void Single(const Type& type, uint32_t number, const Value& value) {
    switch (type.kind) {
      case TypeKind::kString:
        out_.String(number, value.AsString());
        return;
      case TypeKind::kInt32:
      case TypeKind::kInt64:
        out_.Varint(static_cast<uint64_t>(value.AsInt()));
        out_.Tag(number, WireType::kVarint);
        return;
      case TypeKind::kBool:
        out_.Byte(value.AsBool());
        out_.Tag(number, WireType::kVarint);
        return;
      case TypeKind::kDouble: {
        double real = value.AsDouble();
        out_.Bytes({reinterpret_cast<const char*>(&real), sizeof real});
        out_.Tag(number, WireType::kFixed64);
        return;
      }
      case TypeKind::kBytes:
        // Null is nil, which upstream does not write.
        if (!value.is_null()) {
          out_.String(number, DecodeBase64(value.AsString()).value_or(std::string()));
        }
        return;
      case TypeKind::kAny:
      case TypeKind::kUnspecified:
        return;
      default:
        break;
    }
    size_t before = out_.size();
    Nested(type, value);
    out_.Close(number, before);
  }

  // The inside of a message.
  void Nested(const Type& type, const Value& value) {
    switch (type.kind) {
      case TypeKind::kStruct:
        Message(type, value);
        return;
      case TypeKind::kList:
        Repeated(type, 1, value);
        return;  // kWrapped
      case TypeKind::kMap:
        Map(type, 1, value);
        return;
      case TypeKind::kQuantity:
        out_.String(1, value.is_null() ? "0" : value.AsString());
        return;
      case TypeKind::kIntOrString:
        out_.String(3, value.AsString());
        out_.Varint(static_cast<uint64_t>(value.AsInt()));
        out_.Tag(2, WireType::kVarint);
        out_.Byte(value.is_string());
        out_.Tag(1, WireType::kVarint);
        return;
      case TypeKind::kTime:
      case TypeKind::kMicroTime:
        Time(type.kind == TypeKind::kMicroTime, value);
        return;
      case TypeKind::kDuration:
        out_.Varint(static_cast<uint64_t>(
            value.is_null() ? 0 : value::ParseDuration(value.AsString()).value_or(0)));
        out_.Tag(1, WireType::kVarint);
        return;
      case TypeKind::kRawExtension:
      case TypeKind::kFieldsV1:
        // A text is the part's JSON itself (finished_json.h).
        if (value.is_string()) {
          out_.String(1, value.AsString());
          return;
        }
        [[fallthrough]];
      case TypeKind::kJson:
        if (!value.is_null()) out_.String(1, value::ToJson(value));
        return;
      case TypeKind::kSchemaOrBool:
        if (value.is_object()) Single(*type.element, 2, value);
        out_.Byte(value.is_object() || value.AsBool());
        out_.Tag(1, WireType::kVarint);
        return;
      case TypeKind::kSchemaOrArray:
      case TypeKind::kSchemaOrStrings:
        for (size_t i = value.items().size(); i > 0; --i) {
          const Value& item = value.items()[i - 1];
          if (type.kind == TypeKind::kSchemaOrArray) {
            Single(*type.element, 2, item);
          } else {
            out_.String(2, item.AsString());
          }
        }
        if (value.is_object()) Single(*type.element, 1, value);
        return;
      default:
        return;
    }
  }

  void Time(bool micro, const Value& value) {
    if (value.is_null()) return;
    auto time =
        micro ? value::ParseMicroTime(value.AsString()) : value::ParseTime(value.AsString());
    if (!time || time->IsZero()) return;
    out_.Varint(micro ? static_cast<uint64_t>(time->nanos / 1000 * 1000) : 0);
    out_.Tag(2, WireType::kVarint);
    out_.Varint(static_cast<uint64_t>(time->seconds));
    out_.Tag(1, WireType::kVarint);
  }

  ReverseBuffer& out_;
  std::vector<const Value*> slots_;  // a stack of field tables, one per open message
};

void AppendVarint(std::string& out, uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

size_t VarintSize(uint64_t number) {
  size_t size = 1;
  for (; number >= 0x80; number >>= 7) ++size;
  return size;
}

}  // namespace

std::string EncodeProtobuf(const Type& type, const Value& value) {
  ReverseBuffer out;
  Encoder(out).Message(type, value);
  return out.Take();
}

std::string EncodeProtobufEnvelope(const Type& type, const Value& object) {
  ReverseBuffer out;
  out.String(4, "");
  out.String(3, "");
  size_t before = out.size();
  Encoder(out).Message(type, object);
  out.Close(2, before);
  before = out.size();
  out.String(2, object["kind"].AsString());
  out.String(1, object["apiVersion"].AsString());
  out.Close(1, before);
  out.Bytes(kProtobufPrefix);
  return out.Take();
}

std::string ProtobufEnvelopeHead(std::string_view api_version, std::string_view kind,
                                 size_t message_size) {
  ReverseBuffer out;
  out.Varint(message_size);
  out.Tag(2, WireType::kBytes);
  const size_t before = out.size();
  out.String(2, kind);
  out.String(1, api_version);
  out.Close(1, before);
  out.Bytes(kProtobufPrefix);
  return out.Take();
}

void AppendProtobufField(std::string& out, uint32_t number, size_t size) {
  AppendVarint(out, uint64_t{number} << 3 | static_cast<uint64_t>(WireType::kBytes));
  AppendVarint(out, size);
}

std::string ProtobufWatchHeader(std::string_view event_type, size_t object_size) {
  size_t raw_size = 1 + VarintSize(object_size) + object_size;
  size_t event_size =
      1 + VarintSize(event_type.size()) + event_type.size() + 1 + VarintSize(raw_size) + raw_size;
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(event_size >> shift);
  out += '\x0a';
  AppendVarint(out, event_type.size());
  out += event_type;
  out += '\x12';
  AppendVarint(out, raw_size);
  out += '\x0a';
  AppendVarint(out, object_size);
  return out;
}

}  // namespace keelson::schema
