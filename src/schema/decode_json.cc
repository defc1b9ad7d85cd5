#include "schema/decode_json.h"

#include <algorithm>

#include "schema/crd.h"
#include "schema/custom_object.h"
#include "schema/decode_context.h"
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
using value::JsonReader;
using value::Kind;
using value::Member;
using value::Name;
using value::Value;

class Decoder {
 public:
  Decoder(JsonReader& reader, DecodeContext& context)
      : reader_(reader), arena_(reader.arena()), context_(context) {
    entries_.reserve(64);
    items_.reserve(32);
  }

  // The value at the cursor. `base` is what an earlier field of the same name left, which upstream
  // decodes on top of. Null means nothing was set.
  Value Decode(const Type& type, const Frame& frame, const Value* base, bool pointer) {
    if (reader_.Peek() == 'n') {
      reader_.ReadLiteral();
      return Null(type, frame, base, pointer);
    }
    switch (type.kind) {
      case TypeKind::kStruct:
        return Struct(type, frame, base);
      case TypeKind::kMap:
        return Map(type, frame, base);
      case TypeKind::kList:
        return List(type, frame);
      case TypeKind::kString:
        return String(type, frame);
      case TypeKind::kInt32:
      case TypeKind::kInt64:
        return Integer(type, frame);
      case TypeKind::kBool:
        return Bool(type, frame);
      case TypeKind::kDouble:
        return Double(type, frame);
      case TypeKind::kBytes:
        return Bytes(type, frame);
      case TypeKind::kQuantity:
        return Quantity(frame);
      case TypeKind::kIntOrString:
        return IntOrString(frame);
      case TypeKind::kTime:
        return Time(frame, false);
      case TypeKind::kMicroTime:
        return Time(frame, true);
      case TypeKind::kDuration:
        return Duration(frame);
      case TypeKind::kRawExtension:
      case TypeKind::kFieldsV1:
      case TypeKind::kJson:
        return Raw(false);
      case TypeKind::kAny:
      case TypeKind::kUnspecified:
        return Raw(true);
      case TypeKind::kSchemaOrBool:
      case TypeKind::kSchemaOrArray:
      case TypeKind::kSchemaOrStrings:
        return EitherOr(type, frame);
    }
    return {};
  }

 private:
  Value Null(const Type& type, const Frame& frame, const Value* base, bool pointer) {
    if (pointer) return {};
    switch (type.kind) {
      case TypeKind::kDuration:
        Abort(frame, value::ParseDuration("").error().message);
        return {};
      case TypeKind::kStruct:
      case TypeKind::kString:
      case TypeKind::kInt32:
      case TypeKind::kInt64:
      case TypeKind::kBool:
      case TypeKind::kDouble:
        return base ? base->Shared() : Value();
      default:
        return {};
    }
  }

  // Upstream keeps the first mismatch and goes on; what an own decoder of a type refuses ends it.
  void Mismatch(const Type& type, const Frame& frame, std::string_view number = {}) {
    context_.SaveTypeError(frame, Describe(number), GoTypeName(type));
    reader_.Skip();
  }
  void Abort(const Frame& frame, std::string message) {
    context_.Abort(std::move(message));
    reader_.Fail();
  }
  void AbortTypeError(const Frame& frame, std::string_view number, std::string_view go_type) {
    context_.Abort(TypeErrorText(frame, Describe(number), go_type));
    reader_.Fail();
  }
  std::string Describe(std::string_view number) {
    if (!number.empty()) return "number " + std::string(number);
    switch (reader_.Peek()) {
      case '"':
        return "string";
      case '{':
        return "object";
      case '[':
        return "array";
      case 't':
      case 'f':
        return "bool";
      default:
        return "number";
    }
  }
  bool AtNumber() {
    char c = reader_.Peek();
    return c == '-' || (c >= '0' && c <= '9');
  }

  Value Struct(const Type& type, const Frame& frame, const Value* base) {
    if (reader_.Peek() != '{') {
      Mismatch(type, frame);
      return {};
    }
    reader_.Advance();
    if (!reader_.Enter()) return {};
    size_t first = entries_.size();
    SeenFields present;  // in entries_
    SeenFields seen;     // in this text
    if (base) Preload(type, *base, present);
    if (reader_.Peek() == '}') {
      reader_.Advance();
    } else {
      uint32_t hint = 0;
      do {
        reader_.Peek();
        auto key = reader_.ReadKey();
        if (reader_.failed()) break;
        const Field* field = type.FindNear(key.text, hint);
        if (!field || field->Has(Field::kNotInJson)) {
          context_.Unknown(frame, key.text);
          reader_.Skip();
          continue;
        }
        auto index = static_cast<uint32_t>(field - type.fields_data);
        if (seen.Add(index)) context_.Duplicate(frame, key.text);
        FieldValue(type, *field, index, frame, first, present.Add(index));
      } while (reader_.TakeComma('}'));
    }
    reader_.Leave();
    if (reader_.failed()) {
      entries_.resize(first);
      return {};
    }
    return FinishStruct(type, entries_, first, arena_);
  }

  void Preload(const Type& type, const Value& base, SeenFields& present) {
    for (const Member& member : base.members()) {
      const Field* field = type.Find(*member.name);
      if (!field) continue;
      auto index = static_cast<uint32_t>(field - type.fields_data);
      present.Add(index);
      Push(entries_, field->name, member.value, index);
    }
  }

  void FieldValue(const Type& type, const Field& field, uint32_t index, const Frame& frame,
                  size_t first, bool again) {
    Frame inner{&frame, &type, &field};
    if (!again) {
      Value value = Decode(*field.type, inner, nullptr, field.pointer());
      Push(entries_, field.name, value, index);
      return;
    }
    size_t at = first;
    while (entries_[at].index != index) ++at;
    Value before = entries_[at].value;
    Value value = Decode(*field.type, inner, &before, field.pointer());
    entries_[at].value = value;
  }

  Value Map(const Type& type, const Frame& frame, const Value* base) {
    if (reader_.Peek() != '{') {
      Mismatch(type, frame);
      return {};
    }
    reader_.Advance();
    if (!reader_.Enter()) return {};
    size_t first = entries_.size();
    if (base) {
      for (const Member& member : base->members()) {
        Push(entries_, member.name, member.value, 0u);
      }
    }
    size_t own = entries_.size();
    bool ordered = own == first;
    if (reader_.Peek() == '}') {
      reader_.Advance();
    } else {
      do {
        reader_.Peek();
        auto key = reader_.ReadKey();
        if (reader_.failed()) break;
        if (entries_.size() > own && entries_.back().key() >= key.text) ordered = false;
        const Name* name = reader_.MakeName(key);
        Frame inner{&frame, nullptr, nullptr, key.text, 0, Frame::kKey};
        Value value = Decode(*type.element, inner, nullptr, false);
        if (value.is_null()) value = ZeroValue(*type.element, arena_);
        // Counted from 1: 0 marks what the base brought.
        Push(entries_, name, value, static_cast<uint32_t>(entries_.size() + 1));
      } while (reader_.TakeComma('}'));
    }
    reader_.Leave();
    if (reader_.failed()) {
      entries_.resize(first);
      return {};
    }
    if (!ordered) SortMap(frame, first, own);
    return FinishMap(entries_, first, arena_);
  }

  // Sorts by key; of equal keys the last one stays.
  void SortMap(const Frame& frame, size_t first, size_t own) {
    for (size_t i = first; i < own; ++i) entries_[i].index = 0;
    auto begin = entries_.begin() + static_cast<ptrdiff_t>(first);
    std::sort(begin, entries_.end(), [](const Entry& a, const Entry& b) {
      int c = a.key().compare(b.key());
      return c != 0 ? c < 0 : a.index < b.index;
    });
    std::vector<Entry> repeated;
    size_t kept = first;
    for (size_t i = first; i < entries_.size(); ++i) {
      if (kept > first && entries_[kept - 1].key() == entries_[i].key()) {
        if (entries_[kept - 1].index != 0) repeated.push_back(entries_[i]);
        entries_[kept - 1] = entries_[i];
      } else {
        entries_[kept++] = entries_[i];
      }
    }
    entries_.resize(kept);
    std::sort(repeated.begin(), repeated.end(),
              [](const Entry& a, const Entry& b) { return a.index < b.index; });
    for (const Entry& entry : repeated) context_.Duplicate(frame, entry.key());
  }

  Value List(const Type& type, const Frame& frame) {
    if (reader_.Peek() != '[') {
      Mismatch(type, frame);
      return {};
    }
    reader_.Advance();
    if (!reader_.Enter()) return {};
    size_t first = items_.size();
    if (reader_.Peek() == ']') {
      reader_.Advance();
    } else {
      Frame inner{&frame, nullptr, nullptr, {}, 0, Frame::kIndex};
      do {
        Value item = Decode(*type.element, inner, nullptr, false);
        if (item.is_null()) item = ZeroValue(*type.element, arena_);
        Push(items_, item);
        ++inner.index;
      } while (reader_.TakeComma(']'));
    }
    reader_.Leave();
    return FinishList(items_, first, arena_);
  }

  Value String(const Type& type, const Frame& frame) {
    if (reader_.Peek() != '"') {
      Mismatch(type, frame);
      return {};
    }
    auto text = reader_.ReadString();
    return Value::String(text.text, text.plain);
  }

  Value Integer(const Type& type, const Frame& frame) {
    if (!AtNumber()) {
      Mismatch(type, frame);
      return {};
    }
    auto number = reader_.ReadNumber();
    int64_t integer = number.value.AsInt();
    bool fits = number.value.is_int() &&
                (type.kind == TypeKind::kInt64 || integer == static_cast<int32_t>(integer));
    if (!fits && !reader_.failed()) {
      context_.SaveTypeError(frame, Describe(number.text), GoTypeName(type));
      return {};
    }
    return number.value;
  }

  Value Double(const Type& type, const Frame& frame) {
    if (!AtNumber()) {
      Mismatch(type, frame);
      return {};
    }
    auto number = reader_.ReadNumber();
    if (!number.finite) context_.SaveTypeError(frame, Describe(number.text), GoTypeName(type));
    return Value::Double(number.value.AsDouble());
  }

  Value Bool(const Type& type, const Frame& frame) {
    char c = reader_.Peek();
    if (c != 't' && c != 'f') {
      Mismatch(type, frame);
      return {};
    }
    return reader_.ReadLiteral();
  }

  Value Bytes(const Type& type, const Frame& frame) {
    if (reader_.Peek() != '"') {
      Mismatch(type, frame);
      return {};
    }
    auto text = reader_.ReadString();
    auto bytes = DecodeBase64(text.text);
    if (!bytes) {
      context_.SaveError(bytes.error().message);
      return {};
    }
    // What was spelt in another way than it will be written (line breaks) is spelt anew.
    size_t canonical_size = (bytes->size() + 2) / 3 * 4;
    if (canonical_size == text.text.size()) return Value::String(text.text, text.plain);
    return Value::String(arena_.CopyString(EncodeBase64(*bytes)), true);
  }

  // The spelling of a scalar, without its quotes; anything else is `other`.
  std::string_view ScalarText(std::string_view other) {
    switch (reader_.Peek()) {
      case '"':
        return reader_.ReadString().text;
      case 't':
      case 'f':
      case '{':
      case '[':
        reader_.Skip();
        return other;
      default:
        return reader_.ReadNumber().text;
    }
  }

  Value Quantity(const Frame& frame) {
    std::string_view text = ScalarText("{");
    if (reader_.failed()) return {};
    size_t from = text.find_first_not_of(" \t\r\n\v\f");
    if (from == std::string_view::npos) {
      text = {};
    } else {
      text = text.substr(from, text.find_last_not_of(" \t\r\n\v\f") + 1 - from);
    }
    auto canonical = value::CanonicalQuantity(text, buffer_);
    if (!canonical) {
      Abort(frame, canonical.error().message);
      return {};
    }
    if (canonical->data() == text.data()) return Value::String(text, true);
    return Value::String(arena_.CopyString(*canonical), true);
  }

  Value IntOrString(const Frame& frame) {
    if (reader_.Peek() == '"') {
      auto text = reader_.ReadString();
      return Value::String(text.text, text.plain);
    }
    if (!AtNumber()) {
      AbortTypeError(frame, {}, "int32");
      return {};
    }
    auto number = reader_.ReadNumber();
    int64_t integer = number.value.AsInt();
    if (!reader_.failed() && (!number.value.is_int() || integer != static_cast<int32_t>(integer))) {
      AbortTypeError(frame, number.text, "int32");
    }
    return number.value;
  }

  Value Time(const Frame& frame, bool micro) {
    if (reader_.Peek() != '"') {
      AbortTypeError(frame, {}, "string");
      return {};
    }
    auto text = reader_.ReadString();
    if (!micro && value::IsCanonicalTime(text.text)) return Value::String(text.text, true);
    if (reader_.failed()) return {};
    auto time = micro ? value::ParseMicroTime(text.text) : value::ParseTime(text.text);
    if (!time) {
      Abort(frame, time.error().message);
      return {};
    }
    if (time->IsZero()) return {};
    return Value::String(
        arena_.CopyString(micro ? value::FormatMicroTime(*time) : value::FormatTime(*time)), true);
  }

  Value Duration(const Frame& frame) {
    if (reader_.Peek() != '"') {
      AbortTypeError(frame, {}, "string");
      return {};
    }
    auto text = reader_.ReadString();
    if (reader_.failed()) return {};
    auto nanos = value::ParseDuration(text.text);
    if (!nanos) {
      Abort(frame, nanos.error().message);
      return {};
    }
    return Value::String(arena_.CopyString(value::FormatDuration(*nanos)));
  }

  Value Raw(bool sorted) {
    std::string error;
    Value value = value::ReadJsonValue(reader_, {.sort_members = sorted}, error);
    if (!error.empty()) context_.SaveError(error);
    return value;
  }

  // The either-or types decode with a decoder of their own that knows no strictness.
  Value EitherOr(const Type& type, const Frame& frame) {
    char c = reader_.Peek();
    if (type.kind == TypeKind::kSchemaOrBool && (c == 't' || c == 'f')) {
      return reader_.ReadLiteral();
    }
    DecodeContext::Lenient lenient(context_);
    if (c == '{') return Struct(*type.element, frame, nullptr);
    if (c == '[' && type.kind == TypeKind::kSchemaOrArray) {
      Type list{.kind = TypeKind::kList, .element = type.element};
      return List(list, frame);
    }
    if (c == '[' && type.kind == TypeKind::kSchemaOrStrings) {
      static constexpr Type kText{.kind = TypeKind::kString};
      static constexpr Type kTexts{.kind = TypeKind::kList, .element = &kText};
      return List(kTexts, frame);
    }
    if (type.kind == TypeKind::kSchemaOrBool) {
      Abort(frame, "boolean or JSON schema expected");
    } else {
      reader_.Skip();
    }
    return {};
  }

  JsonReader& reader_;
  Arena& arena_;
  DecodeContext& context_;
  std::vector<Entry> entries_;  // a stack shared by all objects being read
  std::vector<Value> items_;    // the same for lists
  std::string buffer_;
};

}  // namespace

Result<Decoded> DecodeJson(const Type& type, std::string_view text, const DecodeOptions& options) {
  if (IsCustomObject(type)) return DecodeCustomJson(type, text, options);
  ArenaRef arena = Arena::Make(text.size() * 4 + 512);
  JsonReader reader(*arena, text);
  Decoded decoded;
  DecodeContext context(options.strict ? &decoded.strict_errors : nullptr);
  Decoder decoder(reader, context);
  Value root = decoder.Decode(type, Frame{}, nullptr, false);
  if (!reader.failed() && (reader.Peek() != '\0' || reader.position() != reader.end())) {
    reader.Fail();
  }
  if (reader.failed()) {
    std::string syntax = value::JsonSyntaxError(text);
    if (!syntax.empty()) return std::unexpected(Error{ErrorCode::kInvalid, std::move(syntax)});
  }
  if (!context.error().empty()) {
    return std::unexpected(Error{ErrorCode::kInvalid, context.error()});
  }
  KEELSON_CHECK(!reader.failed());
  if (root.is_null()) root = ZeroValue(type, *arena);
  decoded.object = Document(root, std::move(arena));
  return decoded;
}

}  // namespace keelson::schema
