#include "schema/decode_context.h"

#include <algorithm>

#include "base/quote.h"
#include "schema/decode_json.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

void AppendStrictPath(const Frame& frame, std::string& out) {
  if (frame.parent) AppendStrictPath(*frame.parent, out);
  if (frame.step == Frame::kIndex) {
    out += '[' + std::to_string(frame.index) + ']';
  } else if (frame.field || frame.step == Frame::kKey) {
    if (!out.empty()) out += '.';
    out += frame.field ? frame.field->text() : frame.key;
  }
}

// The embedded struct that holds the field in upstream's type, which its error paths name.
std::string_view EmbeddedName(const Type& owner, const Field& field) {
  auto index = static_cast<size_t>(&field - owner.fields_data);
  if (owner.Has(Type::kHasTypeMeta) && (field.text() == "kind" || field.text() == "apiVersion")) {
    return "TypeMeta";
  }
  for (const WireField& wire : owner.wire()) {
    if (wire.embedded && index >= wire.field && index < wire.field + wire.embedded->field_count) {
      return wire.embedded->name();
    }
  }
  return {};
}

void AppendFieldPath(const Frame& frame, std::string& out) {
  if (frame.parent) AppendFieldPath(*frame.parent, out);
  if (!frame.field) return;
  if (auto embedded = EmbeddedName(*frame.owner, *frame.field); !embedded.empty()) {
    if (!out.empty()) out += '.';
    out += embedded;
  }
  if (!out.empty()) out += '.';
  out += frame.field->text();
}

}  // namespace

std::string StrictPath(const Frame& frame, std::string_view last) {
  std::string path;
  AppendStrictPath(frame, path);
  if (!path.empty()) path += '.';
  path += last;
  return path;
}

std::string TypeErrorText(const Frame& frame, std::string_view found, std::string_view go_type) {
  std::string path;
  AppendFieldPath(frame, path);
  if (path.empty()) {
    return fmt::format("json: cannot unmarshal {} into Go value of type {}", found, go_type);
  }
  const Frame* inner = &frame;
  while (!inner->field) inner = inner->parent;
  return fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", found,
                     inner->owner->name(), path, go_type);
}

void DecodeContext::Report(std::string_view what, const std::string& path) {
  if (strict_->size() >= kMaxStrictErrors) return;
  std::string message = std::string(what) + Quote(path);
  if (std::find(strict_->begin(), strict_->end(), message) == strict_->end()) {
    strict_->push_back(std::move(message));
  }
}

std::string GoTypeName(const Type& type) {
  if (type.info && !type.info->go_name.empty()) return std::string(type.info->go_name);
  switch (type.kind) {
    case TypeKind::kString:
      return "string";
    case TypeKind::kInt32:
      return "int32";
    case TypeKind::kInt64:
      return "int64";
    case TypeKind::kBool:
      return "bool";
    case TypeKind::kDouble:
      return "float64";
    case TypeKind::kBytes:
      return "[]uint8";
    case TypeKind::kQuantity:
      return "resource.Quantity";
    case TypeKind::kIntOrString:
      return "intstr.IntOrString";
    case TypeKind::kTime:
      return "v1.Time";
    case TypeKind::kMicroTime:
      return "v1.MicroTime";
    case TypeKind::kDuration:
      return "v1.Duration";
    case TypeKind::kRawExtension:
      return "runtime.RawExtension";
    case TypeKind::kFieldsV1:
      return "v1.FieldsV1";
    case TypeKind::kJson:
      return "v1.JSON";
    case TypeKind::kList:
      return "[]" + GoTypeName(*type.element);
    case TypeKind::kMap:
      return "map[string]" + GoTypeName(*type.element);
    default:
      return "interface {}";
  }
}

Result<TypeMeta> ReadTypeMeta(std::string_view text) {
  constexpr std::string_view kGoType =
      "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
      "Kind string \"json:\\\"kind,omitempty\\\"\" }";
  value::ArenaRef arena = value::Arena::Make(text.size() + 256);
  value::JsonReader reader(*arena, text);
  auto describe = [&]() -> std::string_view {
    switch (reader.Peek()) {
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
  };
  TypeMeta meta;
  std::string error;
  if (reader.Peek() == '{') {
    reader.Advance();
    if (reader.Peek() == '}') {
      reader.Advance();
    } else {
      do {
        reader.Peek();
        auto key = reader.ReadKey();
        // This one decoder of upstream's does not mind the case of a name.
        auto is = [&](std::string_view name) {
          return std::equal(key.text.begin(), key.text.end(), name.begin(), name.end(),
                            [](char a, char b) { return (a | 0x20) == (b | 0x20); });
        };
        bool version = is("apiVersion");
        if (!version && !is("kind")) {
          reader.Skip();
        } else if (reader.Peek() == '"') {
          (version ? meta.api_version : meta.kind) = reader.ReadString().text;
        } else {
          if (error.empty() && reader.Peek() != 'n') {
            error = fmt::format("json: cannot unmarshal {} into Go struct field .{} of type string",
                                describe(), version ? "apiVersion" : "kind");
          }
          reader.Skip();
        }
      } while (reader.TakeComma('}'));
    }
  } else {
    if (reader.Peek() != 'n') {
      error =
          fmt::format("json: cannot unmarshal {} into Go value of type {}", describe(), kGoType);
    }
    reader.Skip();
  }
  if (reader.failed() || reader.Peek() != '\0' || reader.position() != reader.end()) {
    return std::unexpected(Error{ErrorCode::kInvalid, value::JsonSyntaxError(text)});
  }
  if (!error.empty()) return std::unexpected(Error{ErrorCode::kInvalid, std::move(error)});
  return meta;
}

}  // namespace keelson::schema
