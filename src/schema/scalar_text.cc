#include "schema/scalar_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "base/quote.h"
#include "base/status.h"
#include "value/document.h"
#include "value/json.h"

namespace keelson::schema {

using value::Kind;
using value::Member;
using value::Value;

void AppendScalarJson(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      out.append("null");
      return;
    case Kind::kBool:
      out.append(value.AsBool() ? "true" : "false");
      return;
    case Kind::kInt:
      fmt::format_to(std::back_inserter(out), "{}", value.AsInt());
      return;
    case Kind::kDouble:
      value::AppendJsonDouble(out, value.AsDouble());
      return;
    case Kind::kString:
      AppendJsonString(out, value.AsString());
      return;
    case Kind::kList: {
      out.push_back('[');
      bool first = true;
      for (const Value& item : value.items()) {
        if (!std::exchange(first, false)) out.push_back(',');
        AppendScalarJson(out, item);
      }
      out.push_back(']');
      return;
    }
    case Kind::kObject: {
      std::vector<const Member*> sorted;
      for (const Member& member : value.members()) sorted.push_back(&member);
      std::sort(sorted.begin(), sorted.end(),
                [](const Member* a, const Member* b) { return a->key() < b->key(); });
      out.push_back('{');
      bool first = true;
      for (const Member* member : sorted) {
        if (!std::exchange(first, false)) out.push_back(',');
        AppendJsonString(out, member->key());
        out.push_back(':');
        AppendScalarJson(out, member->value);
      }
      out.push_back('}');
      return;
    }
  }
}

void AppendScalarText(std::string& out, const Value& value) {
  if (value.is_string()) return AppendQuoted(out, value.AsString());
  AppendScalarJson(out, value);
}

bool JsonScanner::Take(char c) {
  while (!rest_.empty() &&
         (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t' || rest_[0] == '\r')) {
    rest_.remove_prefix(1);
  }
  if (rest_.empty() || rest_[0] != c) return false;
  rest_.remove_prefix(1);
  return true;
}

bool JsonScanner::AtEnd() {
  Take('\0');
  return rest_.empty();
}

Result<std::string_view> JsonScanner::String() {
  if (!Take('"')) return Fail(ErrorCode::kInvalid, "expected a string");
  size_t end = 0;
  while (end < rest_.size() && rest_[end] != '"' && rest_[end] != '\\' &&
         static_cast<unsigned char>(rest_[end]) >= 0x20) {
    ++end;
  }
  if (end >= rest_.size()) return Fail(ErrorCode::kInvalid, "unterminated string");
  if (rest_[end] != '"') return Unescape(end);
  std::string_view text = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return text;
}

namespace {

void AppendUtf8(std::string& out, uint32_t rune) {
  if (rune < 0x80) {
    out.push_back(static_cast<char>(rune));
  } else if (rune < 0x800) {
    out.push_back(static_cast<char>(0xC0 | rune >> 6));
    out.push_back(static_cast<char>(0x80 | (rune & 0x3F)));
  } else if (rune < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | rune >> 12));
    out.push_back(static_cast<char>(0x80 | (rune >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (rune & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | rune >> 18));
    out.push_back(static_cast<char>(0x80 | (rune >> 12 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (rune >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (rune & 0x3F)));
  }
}

// Four hex digits, or nothing.
std::optional<uint32_t> Hex4(std::string_view text) {
  uint32_t rune = 0;
  if (text.size() < 4) return std::nullopt;
  auto [end, error] = std::from_chars(text.data(), text.data() + 4, rune, 16);
  if (error != std::errc() || end != text.data() + 4) return std::nullopt;
  return rune;
}

constexpr uint32_t kReplacement = 0xFFFD;
bool IsHighSurrogate(uint32_t rune) { return rune >= 0xD800 && rune < 0xDC00; }
bool IsLowSurrogate(uint32_t rune) { return rune >= 0xDC00 && rune < 0xE000; }

}  // namespace

Result<std::string_view> JsonScanner::Unescape(size_t plain) {
  static constexpr std::string_view kShort = "\"\\/bfnrt";
  static constexpr std::string_view kMeaning = "\"\\/\b\f\n\r\t";
  std::string text(rest_.substr(0, plain));
  rest_.remove_prefix(plain);
  while (!rest_.empty() && rest_[0] != '"') {
    char c = rest_[0];
    rest_.remove_prefix(1);
    if (static_cast<unsigned char>(c) < 0x20) break;
    if (c != '\\') {
      text.push_back(c);
      continue;
    }
    if (rest_.empty()) break;
    char escape = rest_[0];
    rest_.remove_prefix(1);
    if (size_t at = kShort.find(escape); at != std::string_view::npos) {
      text.push_back(kMeaning[at]);
      continue;
    }
    auto rune = escape == 'u' ? Hex4(rest_) : std::nullopt;
    if (!rune) return Fail(ErrorCode::kInvalid, "invalid escape in string");
    rest_.remove_prefix(4);
    if (IsHighSurrogate(*rune)) {
      auto low = rest_.starts_with("\\u") ? Hex4(rest_.substr(2)) : std::nullopt;
      if (low && IsLowSurrogate(*low)) {
        rest_.remove_prefix(6);
        rune = 0x10000 + ((*rune - 0xD800) << 10) + (*low - 0xDC00);
      } else {
        rune = kReplacement;
      }
    } else if (IsLowSurrogate(*rune)) {
      rune = kReplacement;
    }
    AppendUtf8(text, *rune);
  }
  if (rest_.empty() || rest_[0] != '"') return Fail(ErrorCode::kInvalid, "unterminated string");
  rest_.remove_prefix(1);
  return arena_.CopyString(text);
}

Result<Value> JsonScanner::Number() {
  size_t end = 0;
  bool integer = true;
  while (end < rest_.size() && std::string_view("+-0123456789.eE").contains(rest_[end])) {
    if (rest_[end] == '.' || rest_[end] == 'e' || rest_[end] == 'E') integer = false;
    ++end;
  }
  std::string_view text = rest_.substr(0, end);
  const char* last = text.data() + text.size();
  if (integer) {
    int64_t number = 0;
    auto [at, error] = std::from_chars(text.data(), last, number);
    if (error == std::errc() && at == last) {
      rest_.remove_prefix(end);
      return Value::Int(number);
    }
  }
  double number = 0;
  auto [at, error] = std::from_chars(text.data(), last, number);
  if (text.empty() || error != std::errc() || at != last) {
    return Fail(ErrorCode::kInvalid, "not a value");
  }
  rest_.remove_prefix(end);
  return Value::Double(number);
}

Result<Value> JsonScanner::List(int depth) {
  std::vector<Value> items;
  if (!Take(']')) {
    do {
      TRY(auto item, Any(depth + 1));
      items.push_back(item);
    } while (Take(','));
    if (!Take(']')) return Fail(ErrorCode::kInvalid, "unterminated list");
  }
  auto* copy = arena_.AllocateArray<Value>(items.size());
  std::uninitialized_copy(items.begin(), items.end(), copy);
  return Value::List({copy, items.size()});
}

// Of a repeated name the last value counts.
Result<Value> JsonScanner::Object(int depth) {
  std::map<std::string_view, Value> members;
  if (!Take('}')) {
    do {
      TRY(auto name, String());
      if (!Take(':')) return Fail(ErrorCode::kInvalid, "expected a colon");
      TRY(auto member, Any(depth + 1));
      members.insert_or_assign(name, member);
    } while (Take(','));
    if (!Take('}')) return Fail(ErrorCode::kInvalid, "unterminated object");
  }
  auto* copy = arena_.AllocateArray<Member>(members.size());
  Member* next = copy;
  for (const auto& [name, member] : members) {
    new (next++) Member(value::InternName(arena_, name), member);
  }
  return Value::Object({copy, members.size()});
}

Result<Value> JsonScanner::Any(int depth) {
  if (depth > kMaxDepth) return Fail(ErrorCode::kTooLarge, "nested too deeply");
  if (Take('{')) return Object(depth);
  if (Take('[')) return List(depth);
  if (rest_.starts_with('"')) {
    TRY(auto text, String());
    return Value::String(text);
  }
  for (auto [word, meaning] :
       {std::pair("true", Value::Bool(true)), std::pair("false", Value::Bool(false)),
        std::pair("null", Value::Null())}) {
    if (rest_.starts_with(word)) {
      rest_.remove_prefix(std::string_view(word).size());
      return meaning;
    }
  }
  return Number();
}

}  // namespace keelson::schema
