#include <algorithm>
#include <cstring>

#include "schema/decode_context.h"
#include "schema/decode_json.h"
#include "schema/protobuf.h"
#include "schema/struct_entries.h"
#include "schema/zero.h"
#include "value/json.h"
#include "value/quantity.h"
#include "value/timestamp.h"

namespace keelson::schema {
namespace {

using value::Arena;
using value::ArenaRef;
using value::Document;
using value::Member;
using value::Name;
using value::Value;

constexpr int kMaxDepth = 1000;
constexpr std::string_view kTruncated = "unexpected EOF";
constexpr std::string_view kOverflow = "proto: integer overflow";
constexpr std::string_view kNegative = "proto: negative length found during unmarshaling";

// A cursor over one message. The first failure stays; every read after it yields zero.
class Input {
 public:
  Input(std::string_view bytes, std::string& error)
      : at_(bytes.data()), end_(at_ + bytes.size()), error_(error) {}

  bool More() const { return at_ < end_ && error_.empty(); }
  void Fail(std::string_view message) {
    if (error_.empty()) error_ = message;
    at_ = end_;
  }

  // Most tags, lengths and numbers are one byte.
  uint64_t Varint() {
    if (at_ < end_ && static_cast<uint8_t>(*at_) < 0x80) [[likely]] {
      return static_cast<uint8_t>(*at_++);
    }
    return LongVarint();
  }
  std::string_view Bytes() {
    uint64_t size = Varint();
    if (static_cast<int64_t>(size) < 0) Fail(kNegative);
    if (!error_.empty()) return {};
    if (size > static_cast<uint64_t>(end_ - at_)) {
      Fail(kTruncated);
      return {};
    }
    std::string_view bytes(at_, size);
    at_ += size;
    return bytes;
  }
  uint64_t Fixed64() {
    uint64_t number = 0;
    if (end_ - at_ < 8) {
      Fail(kTruncated);
      return 0;
    }
    std::memcpy(&number, at_, 8);
    at_ += 8;
    return number;
  }

  struct Tag {
    uint32_t number = 0;
    uint8_t wire = 0;
  };
  Tag ReadTag(std::string_view message) {
    uint64_t raw = Varint();
    auto number = static_cast<int32_t>(raw >> 3);
    auto wire = static_cast<uint8_t>(raw & 7);
    if (!error_.empty()) return {};
    if (wire == 4 || number <= 0) [[unlikely]]
      BadTag(message, number, wire);
    return {static_cast<uint32_t>(number), wire};
  }
  // True, and the tag taken, when the next field is `number` again.
  bool TakeSame(uint32_t number, uint8_t wire) {
    const char* before = at_;
    if (!More()) return false;
    uint64_t raw = Varint();
    if (raw == (uint64_t{number} << 3 | wire)) return true;
    if (error_.empty()) at_ = before;
    return false;
  }

  void Skip(uint8_t wire) {
    int depth = 0;
    while (error_.empty()) {
      switch (wire) {
        case 0:
          Varint();
          break;
        case 1:
          Fixed64();
          break;
        case 2:
          Bytes();
          break;
        case 3:
          ++depth;
          break;
        case 4:
          if (depth == 0) {
            Fail("proto: unexpected end of group");
            return;
          }
          --depth;
          break;
        case 5:
          if (end_ - at_ < 4) {
            Fail(kTruncated);
            return;
          }
          at_ += 4;
          break;
        default:
          Fail(fmt::format("proto: illegal wireType {}", wire));
          return;
      }
      if (depth == 0) return;
      if (!More()) {
        Fail(kTruncated);
        return;
      }
      wire = static_cast<uint8_t>(Varint() & 7);
    }
  }

 private:
  [[gnu::noinline]] uint64_t LongVarint() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) {
        Fail(kTruncated);
        return 0;
      }
      auto byte = static_cast<uint8_t>(*at_++);
      number |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return number;
    }
    Fail(kOverflow);
    return 0;
  }
  [[gnu::noinline]] void BadTag(std::string_view message, int32_t number, uint8_t wire) {
    if (wire == 4) {
      Fail(fmt::format("proto: {}: wiretype end group for non-group", message));
    } else {
      Fail(fmt::format("proto: {}: illegal tag {} (wire type {})", message, number, wire));
    }
  }

  const char* at_;
  const char* end_;
  std::string& error_;
};

// The field's name in upstream's struct, as errors give it.
std::string GoFieldName(const Field& field) {
  if (field.text() == "metadata" && field.type->info) return std::string(field.type->name());
  std::string name(field.text());
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 32);
  return name;
}

class Decoder {
 public:
  explicit Decoder(Arena& arena) : arena_(arena) {
    entries_.reserve(64);
    items_.reserve(32);
  }

  const std::string& error() const { return error_; }

  // `base` is what an earlier occurrence of the same field left; a message is read on top of it.
  Value Message(const Type& type, std::string_view bytes, const Value* base) {
    if (++depth_ > kMaxDepth) {
      if (error_.empty()) error_ = "proto: message is nested too deep";
      return {};
    }
    size_t first = entries_.size();
    SeenFields present;
    if (base) Preload(type, *base, present);
    Fields(type, type, 0, bytes, first, present);
    --depth_;
    if (!error_.empty()) return {};
    return FinishStruct(type, entries_, first, arena_);
  }

 private:
  void Preload(const Type& type, const Value& base, SeenFields& present) {
    for (const Member& member : base.members()) {
      const Field* field = type.Find(*member.name);
      if (!field) continue;
      auto index = static_cast<uint32_t>(field - type.fields_data);
      present.Add(index);
      Push(entries_, member.name, member.value, index);
    }
  }

  // An entry known to be there.
  Entry& FindEntry(size_t first, uint32_t index) {
    size_t at = first;
    while (entries_[at].index != index) ++at;
    return entries_[at];
  }

  // Reads the fields of `wire_of` into the entries of `outer`, where they start at `offset`.
  void Fields(const Type& outer, const Type& wire_of, uint32_t offset, std::string_view bytes,
              size_t first, SeenFields& present) {
    Input in(bytes, error_);
    while (in.More()) {
      auto tag = in.ReadTag(wire_of.name());
      if (!error_.empty()) return;
      const WireField* wire = wire_of.FindWire(tag.number);
      if (!wire) {
        in.Skip(tag.wire);
        continue;
      }
      if (wire->embedded) {
        if (tag.wire != 2) {
          WrongWire(in, tag.wire, wire->embedded->name());
          return;
        }
        Fields(outer, *wire->embedded, offset + wire->field, in.Bytes(), first, present);
        continue;
      }
      const Field& field = wire_of.fields_data[wire->field];
      uint32_t index = offset + wire->field;
      if (present.Add(index)) [[unlikely]] {
        Value before = FindEntry(first, index).value;
        Value value = Content(in, *wire, field, tag, &before);
        FindEntry(first, index).value = value;
      } else {
        Value value = Content(in, *wire, field, tag, nullptr);
        Push(entries_, field.name, value, index);
      }
    }
  }

  Value Content(Input& in, const WireField& wire, const Field& field, Input::Tag tag,
                const Value* before) {
    if (!wire.repeated) return One(in, *field.type, tag.wire, field, before);
    return field.type->kind == TypeKind::kMap ? Map(in, field, tag, before)
                                              : List(in, *field.type->element, field, tag, before);
  }

  void WrongWire(Input& in, uint8_t wire, std::string_view name) {
    in.Fail(fmt::format("proto: wrong wireType = {} for field {}", wire, name));
  }

  Value List(Input& in, const Type& element, const Field& field, Input::Tag tag,
             const Value* before) {
    size_t first = items_.size();
    if (before) items_.insert(items_.end(), before->items().begin(), before->items().end());
    bool packable = element.kind == TypeKind::kInt32 || element.kind == TypeKind::kInt64 ||
                    element.kind == TypeKind::kBool || element.kind == TypeKind::kDouble;
    do {
      if (packable && tag.wire == 2) {
        Input packed(in.Bytes(), error_);
        uint8_t wire = element.kind == TypeKind::kDouble ? 1 : 0;
        while (packed.More()) Push(items_, One(packed, element, wire, field, nullptr));
        continue;
      }
      Value item = One(in, element, tag.wire, field, nullptr);
      if (item.is_null()) item = ZeroValue(element, arena_);
      Push(items_, item);
    } while (error_.empty() && in.TakeSame(tag.number, tag.wire));
    return FinishList(items_, first, arena_);
  }

  Value Map(Input& in, const Field& field, Input::Tag tag, const Value* before) {
    const Type& element = *field.type->element;
    size_t first = entries_.size();
    if (before) {
      for (const Member& member : before->members()) {
        Push(entries_, member.name, member.value, 0u);
      }
    }
    uint32_t order = 0;
    do {
      if (tag.wire != 2) {
        WrongWire(in, tag.wire, GoFieldName(field));
        return {};
      }
      std::string_view key;
      Value value = MapEntry(in.Bytes(), element, field, key);
      if (!error_.empty()) return {};
      if (value.is_null()) value = ZeroValue(element, arena_);
      const Name* name = value::InternName(arena_, key);
      Push(entries_, name, value, ++order);
    } while (error_.empty() && in.TakeSame(tag.number, tag.wire));
    SortByKey(first);
    return FinishMap(entries_, first, arena_);
  }

  Value MapEntry(std::string_view bytes, const Type& element, const Field& field,
                 std::string_view& key) {
    Input in(bytes, error_);
    Value value;
    while (in.More()) {
      auto tag = in.ReadTag(field.type->name());
      if (!error_.empty()) break;
      if (tag.number == 1) {
        key = in.Bytes();
      } else if (tag.number == 2) {
        value = One(in, element, tag.wire, field, nullptr);
      } else {
        in.Skip(tag.wire);
      }
    }
    return value;
  }

  void SortByKey(size_t first) {
    auto begin = entries_.begin() + static_cast<ptrdiff_t>(first);
    auto less = [](const Entry& a, const Entry& b) {
      int c = a.key().compare(b.key());
      return c != 0 ? c < 0 : a.index < b.index;
    };
    auto ascends = [](const Entry& a, const Entry& b) { return a.key() >= b.key(); };
    if (std::adjacent_find(begin, entries_.end(), ascends) == entries_.end()) return;
    std::sort(begin, entries_.end(), less);
    size_t kept = first;
    for (size_t i = first; i < entries_.size(); ++i) {
      if (kept > first && entries_[kept - 1].key() == entries_[i].key()) --kept;
      entries_[kept++] = entries_[i];
    }
    entries_.resize(kept);
  }

  static uint8_t WireOf(TypeKind kind) {
    switch (kind) {
      case TypeKind::kInt32:
      case TypeKind::kInt64:
      case TypeKind::kBool:
        return 0;
      case TypeKind::kDouble:
        return 1;
      default:
        return 2;
    }
  }

  Value One(Input& in, const Type& type, uint8_t wire, const Field& field, const Value* base) {
    if (wire != WireOf(type.kind)) {
      WrongWire(in, wire, GoFieldName(field));
      return {};
    }
    switch (type.kind) {
      case TypeKind::kInt32:
        return Value::Int(static_cast<int32_t>(in.Varint()));
      case TypeKind::kInt64:
        return Value::Int(static_cast<int64_t>(in.Varint()));
      case TypeKind::kBool:
        return Value::Bool(in.Varint() != 0);
      case TypeKind::kDouble: {
        uint64_t bits = in.Fixed64();
        double real;
        std::memcpy(&real, &bits, sizeof real);
        return Value::Double(real);
      }
      case TypeKind::kString: {
        std::string_view text = in.Bytes();
        return Value::String(text, value::IsPlainJson(text));
      }
      case TypeKind::kBytes:
        return Value::String(arena_.CopyString(EncodeBase64(in.Bytes())), true);
      case TypeKind::kStruct:
        return Message(type, in.Bytes(), base);
      default:
        return Special(type, in.Bytes(), field);
    }
  }

  // The messages behind scalars and either-or types.
  Value Special(const Type& type, std::string_view bytes, const Field& field) {
    if (type.kind == TypeKind::kList) {
      return Wrapped(type, bytes, field);
    }
    Input in(bytes, error_);
    std::string_view first;   // field 1, when bytes
    std::string_view third;   // field 3, when bytes
    int64_t numbers[3] = {};  // fields 1 and 2, when varints
    Value schema;
    size_t items = items_.size();
    bool has_bytes = false;
    while (in.More()) {
      auto tag = in.ReadTag(type.name());
      if (!error_.empty()) break;
      bool either = type.kind >= TypeKind::kSchemaOrBool && type.kind <= TypeKind::kSchemaOrStrings;
      if (tag.wire == 0 && tag.number <= 2) {
        numbers[tag.number] = static_cast<int64_t>(in.Varint());
      } else if (tag.wire == 2 && either) {
        EitherPart(type, tag.number, in.Bytes(), schema);
      } else if (tag.wire == 2 && tag.number == 1) {
        first = in.Bytes();
        has_bytes = true;
      } else if (tag.wire == 2 && tag.number == 3) {
        third = in.Bytes();
      } else {
        in.Skip(tag.wire);
      }
    }
    if (!error_.empty()) return {};
    switch (type.kind) {
      case TypeKind::kQuantity:
        return Quantity(first);
      case TypeKind::kIntOrString:
        if (numbers[1] == 0) return Value::Int(static_cast<int32_t>(numbers[2]));
        return Value::String(third, value::IsPlainJson(third));
      case TypeKind::kTime:
      case TypeKind::kMicroTime:
        if (bytes.empty()) return {};
        return Time(type.kind == TypeKind::kMicroTime, numbers[1], numbers[2]);
      case TypeKind::kDuration:
        return Value::String(arena_.CopyString(value::FormatDuration(numbers[1])));
      case TypeKind::kRawExtension:
      case TypeKind::kFieldsV1:
      case TypeKind::kJson:
        return has_bytes ? Raw(first) : Value();
      case TypeKind::kSchemaOrBool:
        return schema.is_object() ? schema : Value::Bool(numbers[1] != 0);
      case TypeKind::kSchemaOrArray:
      case TypeKind::kSchemaOrStrings:
        if (items_.size() == items) return schema;
        return FinishList(items_, items, arena_);
      default:
        return {};
    }
  }

  void EitherPart(const Type& type, uint32_t number, std::string_view bytes, Value& schema) {
    uint32_t schema_number = type.kind == TypeKind::kSchemaOrBool ? 2 : 1;
    if (number == schema_number) {
      schema = Message(*type.element, bytes, nullptr);
    } else if (number == 2 && type.kind == TypeKind::kSchemaOrStrings) {
      Push(items_, Value::String(bytes, value::IsPlainJson(bytes)));
    } else if (number == 2) {
      Value item = Message(*type.element, bytes, nullptr);
      Push(items_, item);
    }
  }

  // A list that is a message of its own; an empty message is an empty list.
  Value Wrapped(const Type& type, std::string_view bytes, const Field& field) {
    Input in(bytes, error_);
    size_t first = items_.size();
    while (in.More()) {
      auto tag = in.ReadTag(type.name());
      if (!error_.empty()) break;
      if (tag.number != 1) {
        in.Skip(tag.wire);
        continue;
      }
      Value item = One(in, *type.element, tag.wire, field, nullptr);
      Push(items_, item);
    }
    return FinishList(items_, first, arena_);
  }

  Value Quantity(std::string_view text) {
    std::string buffer;
    if (text.empty()) return Value::String("0", true);
    auto canonical = value::CanonicalQuantity(text, buffer);
    if (!canonical) {
      if (error_.empty()) error_ = canonical.error().message;
      return {};
    }
    if (canonical->data() == text.data()) return Value::String(text, true);
    return Value::String(arena_.CopyString(*canonical), true);
  }

  Value Time(bool micro, int64_t seconds, int64_t nanos) {
    value::Timestamp time{seconds, micro ? static_cast<int32_t>(nanos) : 0};
    if (time.IsZero()) return {};
    // Years past 9999 and before 0 have no spelling that reads back.
    constexpr int64_t kLast = 253402300799;
    constexpr int64_t kFirst = -62167219200;
    if (seconds > kLast || seconds < kFirst || nanos < 0 || nanos > 999999999) {
      if (error_.empty()) error_ = "proto: time is out of range";
      return {};
    }
    return Value::String(
        arena_.CopyString(micro ? value::FormatMicroTime(time) : value::FormatTime(time)), true);
  }

  Value Raw(std::string_view bytes) {
    if (bytes.empty()) return {};
    value::JsonReader reader(arena_, bytes);
    std::string error;
    Value value = value::ReadJsonValue(reader, {}, error);
    if (reader.failed() || reader.Peek() != '\0' || reader.position() != reader.end()) {
      error = value::JsonSyntaxError(bytes);
    }
    if (error_.empty()) error_ = error;
    return value;
  }

  Arena& arena_;
  std::string error_;
  std::vector<Entry> entries_;
  std::vector<Value> items_;
  int depth_ = 0;
};

}  // namespace

Result<Document> DecodeProtobuf(const Type& type, std::string_view bytes) {
  ArenaRef arena = Arena::Make(bytes.size() * 6 + 512);
  Decoder decoder(*arena);
  // The tree's strings point into this copy.
  Value root = decoder.Message(type, arena->CopyString(bytes), nullptr);
  if (!decoder.error().empty()) {
    return std::unexpected(Error{ErrorCode::kInvalid, decoder.error()});
  }
  return Document(root, std::move(arena));
}

Result<ProtobufEnvelope> ReadProtobufEnvelope(std::string_view bytes) {
  if (!bytes.starts_with(kProtobufPrefix)) {
    return Fail(ErrorCode::kInvalid,
                "provided data does not appear to be a protobuf message, expected prefix [107 56 "
                "115 0]");
  }
  std::string error;
  ProtobufEnvelope envelope;
  Input in(bytes.substr(kProtobufPrefix.size()), error);
  while (in.More()) {
    auto tag = in.ReadTag("Unknown");
    if (!error.empty()) break;
    static constexpr std::string_view kNames[] = {"", "TypeMeta", "Raw", "ContentEncoding",
                                                  "ContentType"};
    if (tag.number > 4) {
      in.Skip(tag.wire);
      continue;
    }
    if (tag.wire != 2) {
      in.Fail(fmt::format("proto: wrong wireType = {} for field {}", tag.wire, kNames[tag.number]));
      break;
    }
    std::string_view content = in.Bytes();
    if (tag.number == 2) envelope.raw = content;
    if (tag.number == 3) envelope.content_encoding = content;
    if (tag.number == 4) envelope.content_type = content;
    if (tag.number != 1) continue;
    Input meta(content, error);
    while (meta.More()) {
      auto inner = meta.ReadTag("TypeMeta");
      if (!error.empty()) break;
      if (inner.number > 2) {
        meta.Skip(inner.wire);
      } else if (inner.wire != 2) {
        meta.Fail(fmt::format("proto: wrong wireType = {} for field {}", inner.wire,
                              inner.number == 1 ? "APIVersion" : "Kind"));
      } else {
        (inner.number == 1 ? envelope.api_version : envelope.kind) = meta.Bytes();
      }
    }
  }
  if (!error.empty()) return std::unexpected(Error{ErrorCode::kInvalid, std::move(error)});
  return envelope;
}

Result<Document> DecodeProtobufEnvelope(const Type& type, std::string_view bytes) {
  TRY(ProtobufEnvelope envelope, ReadProtobufEnvelope(bytes));
  TRY(Document object, DecodeProtobuf(type, envelope.raw));
  // The object is new and nobody else sees it, so its arena may take two more members.
  Arena& arena = *object.arena();
  auto old = object->members();
  auto* members = arena.AllocateArray<Member>(old.size() + 2);
  size_t count = 0;
  auto add = [&](std::string_view name, std::string_view text) {
    const Field* field = type.Find(name);
    if (field && !text.empty()) {
      new (&members[count++]) Member(field->name, Value::String(arena.CopyString(text)));
    }
  };
  add("kind", envelope.kind);
  add("apiVersion", envelope.api_version);
  for (const Member& member : old) {
    if (member.key() != "kind" && member.key() != "apiVersion")
      new (&members[count++]) Member(member);
  }
  return Document(Value::Object({members, count}), object.arena());
}

}  // namespace keelson::schema
