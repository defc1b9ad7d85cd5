#include "patch/json_size.h"

#include <fmt/format.h>

#include <string>

#include "value/json.h"

namespace keelson::patch {
namespace {

using value::Kind;
using value::Member;
using value::Value;

// Quotes included. Escapes as Go's encoder has them.
size_t StringSize(std::string_view text) {
  size_t size = text.size() + 2;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f') {
      size += 1;
    } else if (byte < 0x20 || c == '<' || c == '>' || c == '&') {
      size += 5;
    }
  }
  return size;
}

void Count(const Value& value, size_t limit, size_t& size) {
  if (size > limit) return;
  switch (value.kind()) {
    case Kind::kNull:
      size += 4;
      return;
    case Kind::kBool:
      size += value.AsBool() ? 4 : 5;
      return;
    case Kind::kInt:
      size += fmt::formatted_size("{}", value.AsInt());
      return;
    case Kind::kDouble: {
      std::string text;
      value::AppendJsonDouble(text, value.AsDouble());
      size += text.size();
      return;
    }
    case Kind::kString:
      size += StringSize(value.AsString());
      return;
    case Kind::kList:
      size += 2 + (value.size() > 1 ? value.size() - 1 : 0);
      for (const Value& item : value.items()) Count(item, limit, size);
      return;
    case Kind::kObject:
      size += 2 + (value.size() > 1 ? value.size() - 1 : 0);
      for (const Member& member : value.members()) {
        size += StringSize(member.key()) + 1;
        Count(member.value, limit, size);
      }
      return;
  }
}

}  // namespace

size_t JsonSize(const Value& value, size_t limit) {
  size_t size = 0;
  Count(value, limit, size);
  return size;
}

}  // namespace keelson::patch
