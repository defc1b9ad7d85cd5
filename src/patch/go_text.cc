#include "patch/go_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "base/quote.h"

namespace keelson::patch {
namespace {

using value::Kind;
using value::Member;
using value::Value;

std::vector<const Member*> Sorted(const Value& object) {
  std::vector<const Member*> sorted;
  for (const Member& member : object.members()) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(),
            [](const Member* a, const Member* b) { return a->key() < b->key(); });
  return sorted;
}

// Shortest digits, with an exponent of at least two digits below 1e-4 and from 1e21 on.
void AppendFloat(std::string& out, double number) {
  char buffer[64];
  double size = std::fabs(number);
  bool exponent = size != 0 && (size < 1e-4 || size >= 1e21);
  auto [end, error] =
      std::to_chars(buffer, buffer + sizeof(buffer), number,
                    exponent ? std::chars_format::scientific : std::chars_format::fixed);
  out.append(buffer, end);
}

void AppendScalar(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
      out.append(value.AsBool() ? "true" : "false");
      return;
    case Kind::kInt:
      fmt::format_to(std::back_inserter(out), "{}", value.AsInt());
      return;
    default:
      AppendFloat(out, value.AsDouble());
  }
}

}  // namespace

void AppendGoPlain(std::string& out, const Value& value) {
  bool first = true;
  switch (value.kind()) {
    case Kind::kNull:
      out.append("<nil>");
      return;
    case Kind::kString:
      out.append(value.AsString());
      return;
    case Kind::kList:
      out.push_back('[');
      for (const Value& item : value.items()) {
        if (!std::exchange(first, false)) out.push_back(' ');
        AppendGoPlain(out, item);
      }
      out.push_back(']');
      return;
    case Kind::kObject:
      out.append("map[");
      for (const Member* member : Sorted(value)) {
        if (!std::exchange(first, false)) out.push_back(' ');
        out.append(member->key()).push_back(':');
        AppendGoPlain(out, member->value);
      }
      out.push_back(']');
      return;
    default:
      AppendScalar(out, value);
  }
}

void AppendGoSyntax(std::string& out, const Value& value) {
  bool first = true;
  switch (value.kind()) {
    case Kind::kNull:
      out.append("interface {}(nil)");
      return;
    case Kind::kString:
      AppendQuoted(out, value.AsString());
      return;
    case Kind::kList:
      out.append("[]interface {}{");
      for (const Value& item : value.items()) {
        if (!std::exchange(first, false)) out.append(", ");
        AppendGoSyntax(out, item);
      }
      out.push_back('}');
      return;
    case Kind::kObject:
      out.append("map[string]interface {}{");
      for (const Member* member : Sorted(value)) {
        if (!std::exchange(first, false)) out.append(", ");
        AppendQuoted(out, member->key());
        out.push_back(':');
        AppendGoSyntax(out, member->value);
      }
      out.push_back('}');
      return;
    default:
      AppendScalar(out, value);
  }
}

std::string_view GoTypeName(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "<nil>";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int64";
    case Kind::kDouble:
      return "float64";
    case Kind::kString:
      return "string";
    case Kind::kList:
      return "[]interface {}";
    case Kind::kObject:
      return "map[string]interface {}";
  }
  return "";
}

}  // namespace keelson::patch
