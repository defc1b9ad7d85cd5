#include "schema/path_element.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/status.h"
#include "schema/scalar_text.h"

namespace keelson::schema {
namespace {

int CompareKeys(std::span<const KeyField> a, std::span<const KeyField> b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (int c = a[i].name.compare(b[i].name); c != 0) return c;
    if (int c = value::Compare(a[i].value, b[i].value); c != 0) return c;
  }
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}

// {"name":"a","port":80}: what follows k: in fieldsV1. Read by hand: it is short, flat, and met for
// every list item of every managed object.
Result<PathElement> ParseKey(value::Arena& arena, std::string_view text) {
  JsonScanner scanner(arena, text);
  std::vector<KeyField> fields;
  if (!scanner.Take('{')) return Fail(ErrorCode::kInvalid, "expected an object after k:");
  if (!scanner.Take('}')) {
    do {
      TRY(auto name, scanner.String());
      if (!scanner.Take(':')) return Fail(ErrorCode::kInvalid, "expected a colon in {}", text);
      TRY(auto field_value, scanner.Any());
      fields.push_back({name, field_value});
    } while (scanner.Take(','));
    if (!scanner.Take('}')) return Fail(ErrorCode::kInvalid, "unterminated object in {}", text);
  }
  // A name that stands twice goes by its values, so that what is written back reads the same.
  std::ranges::sort(fields, [](const KeyField& a, const KeyField& b) {
    const int order = a.name.compare(b.name);
    return order != 0 ? order < 0 : value::Compare(a.value, b.value) < 0;
  });
  auto* copy = arena.AllocateArray<KeyField>(fields.size());
  std::uninitialized_copy(fields.begin(), fields.end(), copy);
  return PathElement::Key({copy, fields.size()});
}

}  // namespace

int PathElement::CompareSlow(const PathElement& other) const {
  if (kind_ != other.kind_) return kind_ < other.kind_ ? -1 : 1;
  switch (kind_) {
    case Kind::kField:
      return field().compare(other.field());
    case Kind::kKey:
      return CompareKeys(key(), other.key());
    case Kind::kValue:
      return value::Compare(item(), other.item());
    case Kind::kIndex:
      return index_ < other.index_ ? -1 : index_ > other.index_ ? 1 : 0;
  }
  return 0;
}

void PathElement::AppendFieldsV1(std::string& out) const {
  switch (kind_) {
    case Kind::kField:
      out.append("f:").append(field());
      return;
    case Kind::kKey: {
      out.append("k:{");
      bool first = true;
      for (const KeyField& part : key()) {
        if (!first) out.push_back(',');
        first = false;
        AppendJsonString(out, part.name);
        out.push_back(':');
        AppendScalarJson(out, part.value);
      }
      out.push_back('}');
      return;
    }
    case Kind::kValue:
      out.append("v:");
      AppendScalarJson(out, item());
      return;
    case Kind::kIndex:
      out.append("i:").append(std::to_string(index_));
      return;
  }
}

Result<std::optional<PathElement>> PathElement::ParseFieldsV1(value::Arena& arena,
                                                              std::string_view text) {
  if (text.size() < 2) return Fail(ErrorCode::kInvalid, "key must be 2 characters long:");
  if (text[1] != ':') return Fail(ErrorCode::kInvalid, "missing colon: {}", text);
  std::string_view rest = text.substr(2);
  switch (text[0]) {
    case 'f':
      return Field(rest);
    case 'k':
      return ParseKey(arena, rest);
    case 'v': {
      JsonScanner scanner(arena, rest);
      TRY(auto item, scanner.Any());
      return SetItem(new (arena.Allocate(sizeof(value::Value))) value::Value(item));
    }
    case 'i': {
      int64_t index = 0;
      const char* end = rest.data() + rest.size();
      const char* begin = rest.starts_with('+') ? rest.data() + 1 : rest.data();
      if (auto [at, error] = std::from_chars(begin, end, index);
          error != std::errc() || at != end) {
        return Fail(ErrorCode::kInvalid, "parsing \"{}\": invalid syntax", rest);
      }
      return Index(index);
    }
    default:
      return std::nullopt;
  }
}

void PathElement::AppendTo(std::string& out) const {
  switch (kind_) {
    case Kind::kField:
      out.append(".").append(field());
      return;
    case Kind::kKey: {
      out.push_back('[');
      bool first = true;
      for (const KeyField& part : key()) {
        if (!first) out.push_back(',');
        first = false;
        out.append(part.name).push_back('=');
        AppendScalarText(out, part.value);
      }
      out.push_back(']');
      return;
    }
    case Kind::kValue:
      out.append("[=");
      AppendScalarText(out, item());
      out.push_back(']');
      return;
    case Kind::kIndex:
      out.append("[").append(std::to_string(index_)).push_back(']');
      return;
  }
}

std::string PathToString(std::span<const PathElement> path) {
  std::string text;
  for (const PathElement& element : path) element.AppendTo(text);
  return text;
}

}  // namespace keelson::schema
