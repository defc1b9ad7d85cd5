// YAML out. libyaml lays the text out as upstream's emitter, which descends from it; here stands
// what upstream's encoder decides before: the order of keys, and which strings need quotes so that
// they do not read as something else.

#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/quote.h"
#include "base/utf8.h"
#include "value/json.h"
#include "value/yaml.h"
#include "value/yaml_scalar.h"

namespace keelson::value {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(unsigned char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

// Takes between `least` and `most` digits off the front.
bool TakeDigits(std::string_view& text, size_t least, size_t most) {
  size_t count = 0;
  while (count < most && count < text.size() && IsDigit(text[count])) ++count;
  text.remove_prefix(count);
  return count >= least;
}
bool TakeOne(std::string_view& text, std::string_view set) {
  if (text.empty() || set.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// 2026-01-31, alone or with a time of day behind a T or a space.
bool IsTimestamp(std::string_view text) {
  if (!TakeDigits(text, 4, 4) || !TakeOne(text, "-") || !TakeDigits(text, 1, 2) ||
      !TakeOne(text, "-") || !TakeDigits(text, 1, 2)) {
    return false;
  }
  if (text.empty()) return true;
  const bool zone = text.front() != ' ';
  if (!TakeOne(text, "Tt ") || !TakeDigits(text, 1, 2) || !TakeOne(text, ":") ||
      !TakeDigits(text, 1, 2) || !TakeOne(text, ":") || !TakeDigits(text, 1, 2)) {
    return false;
  }
  if (TakeOne(text, ".")) TakeDigits(text, 1, 9);
  if (!zone) return text.empty();
  if (TakeOne(text, "Z")) return text.empty();
  return TakeOne(text, "+-") && TakeDigits(text, 2, 2) && TakeOne(text, ":") &&
         TakeDigits(text, 2, 2) && text.empty();
}

// 12:30 and the like, numbers to the base 60 in YAML 1.1.
bool IsBase60(std::string_view text) {
  TakeOne(text, "+-");
  if (text.empty() || !IsDigit(text.front())) return false;
  while (!text.empty() && (IsDigit(text.front()) || text.front() == '_')) text.remove_prefix(1);
  size_t groups = 0;
  for (; TakeOne(text, ":"); ++groups) {
    const auto group = text;
    if (!TakeDigits(text, 1, 2)) return false;
    if (group.size() - text.size() == 2 && group.front() > '5') return false;
  }
  if (TakeOne(text, ".")) {
    while (!text.empty() && (IsDigit(text.front()) || text.front() == '_')) text.remove_prefix(1);
  }
  return groups > 0 && text.empty();
}

bool ReadsAsString(std::string_view text) {
  const auto tag = ResolveYamlScalar(text).tag;
  return (tag == YamlTag::kString || tag == YamlTag::kMerge) && !IsTimestamp(text) &&
         !IsBase60(text);
}

// How upstream sorts keys: letters by their code, after everything else, and numbers by value.
bool KeyLess(std::string_view a, std::string_view b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  if (i == a.size() || i == b.size()) return a.size() < b.size();
  // Not in the middle of a character.
  while (i > 0 && (static_cast<unsigned char>(a[i]) & 0xC0) == 0x80) --i;
  auto is_letter = [](std::string_view text, size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    return byte < 0x80 ? IsLetter(byte) : true;
  };
  const bool a_letter = is_letter(a, i);
  const bool b_letter = is_letter(b, i);
  if (a_letter && b_letter) return a.substr(i) < b.substr(i);
  if (a_letter || b_letter) return b_letter;
  uint64_t a_number = 0;
  uint64_t b_number = 0;
  if (a[i] == '0' || b[i] == '0') {
    for (size_t j = i; j-- > 0 && IsDigit(a[j]);) {
      if (a[j] == '0') continue;
      a_number = b_number = 1;
      break;
    }
  }
  size_t a_end = i;
  size_t b_end = i;
  for (; a_end < a.size() && IsDigit(a[a_end]); ++a_end) {
    a_number = a_number * 10 + static_cast<uint64_t>(a[a_end] - '0');
  }
  for (; b_end < b.size() && IsDigit(b[b_end]); ++b_end) {
    b_number = b_number * 10 + static_cast<uint64_t>(b[b_end] - '0');
  }
  if (a_number != b_number) return static_cast<int64_t>(a_number) < static_cast<int64_t>(b_number);
  if (a_end != b_end) return a_end < b_end;
  return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
}

class Writer {
 public:
  explicit Writer(std::string& out) {
    KEELSON_CHECK(yaml_emitter_initialize(&emitter_) == 1);
    yaml_emitter_set_output(&emitter_, Write, &out);
    yaml_emitter_set_unicode(&emitter_, 1);
  }
  ~Writer() { yaml_emitter_delete(&emitter_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void Document(const Value& value) {
    yaml_event_t event;
    Emit(yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), event);
    Emit(yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1), event);
    Node(value);
    Emit(yaml_document_end_event_initialize(&event, 1), event);
    Emit(yaml_stream_end_event_initialize(&event), event);
  }

 private:
  static int Write(void* out, unsigned char* bytes, size_t size) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
    return 1;
  }
  // Memory is all that can fail: the events are ours and well formed.
  void Emit(int made, yaml_event_t& event) {
    KEELSON_CHECK(made == 1 && yaml_emitter_emit(&emitter_, &event) == 1);
  }
  void Scalar(std::string_view text, yaml_scalar_style_t style) {
    yaml_event_t event;
    const auto* bytes = reinterpret_cast<const yaml_char_t*>(text.empty() ? "" : text.data());
    Emit(yaml_scalar_event_initialize(&event, nullptr, nullptr, bytes,
                                      static_cast<int>(text.size()), 1, 1, style),
         event);
  }
  void String(std::string_view text) {
    Scalar(text, text.contains('\n')   ? YAML_LITERAL_SCALAR_STYLE
                 : ReadsAsString(text) ? YAML_PLAIN_SCALAR_STYLE
                                       : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
  }

  void Node(const Value& value) {
    switch (value.kind()) {
      case Kind::kString:
        return String(value.AsString());
      case Kind::kList:
        return List(value);
      case Kind::kObject:
        return Object(value);
      default:
        return Scalar(ToJson(value), YAML_PLAIN_SCALAR_STYLE);
    }
  }

  void List(const Value& value) {
    yaml_event_t event;
    Emit(yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1,
                                              YAML_BLOCK_SEQUENCE_STYLE),
         event);
    for (const auto& item : value.items()) Node(item);
    Emit(yaml_sequence_end_event_initialize(&event), event);
  }

  void Object(const Value& value) {
    std::vector<const Member*> sorted;
    for (const auto& member : value.members()) sorted.push_back(&member);
    std::ranges::sort(sorted, KeyLess, [](const Member* member) { return member->key(); });
    yaml_event_t event;
    Emit(yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE),
         event);
    for (const auto* member : sorted) {
      String(member->key());
      Node(member->value);
    }
    Emit(yaml_mapping_end_event_initialize(&event), event);
  }

  yaml_emitter_t emitter_;
};

}  // namespace

std::string ToYaml(const Value& value) {
  std::string out;
  Writer(out).Document(value);
  return out;
}

}  // namespace keelson::value
