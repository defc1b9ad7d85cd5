#include "value/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <map>

#include "value/json.h"
#include "value/yaml_scalar.h"

namespace keelson::value {
namespace {

// A level costs more stack here than in JSON, so less deep than upstream's 10000.
constexpr int kMaxDepth = 1000;
// Upstream lets a document of up to kLow nodes consist of aliases almost entirely; from kHigh nodes
// on only a tenth may come from them.
constexpr double kAliasLow = 400000;
constexpr double kAliasHigh = 4000000;

double AllowedAliasShare(double nodes) {
  if (nodes <= kAliasLow) return 0.99;
  if (nodes >= kAliasHigh) return 0.10;
  return 0.99 - 0.89 * (nodes - kAliasLow) / (kAliasHigh - kAliasLow);
}

struct EventCloser {
  yaml_event_t event{};
  ~EventCloser() { yaml_event_delete(&event); }
};

// A composed node; `nodes` counts what it expands to.
struct Node {
  Value value;
  YamlTag tag = YamlTag::kString;
  double nodes = 1;
};

class Composer {
 public:
  Composer(std::string_view text, Arena& arena, const YamlOptions& options)
      : arena_(arena), options_(options) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Composer() { yaml_parser_delete(&parser_); }
  Composer(const Composer&) = delete;
  Composer& operator=(const Composer&) = delete;

  Value Run() {
    Value root;
    while (error_.empty()) {
      EventCloser next;
      if (!Next(next)) break;
      if (next.event.type == YAML_STREAM_END_EVENT) break;
      if (next.event.type == YAML_STREAM_START_EVENT) continue;
      if (next.event.type != YAML_DOCUMENT_START_EVENT) continue;
      EventCloser first;
      if (!Next(first)) break;
      root = Compose(first.event, 0).value;
      break;
    }
    return root;
  }

  const std::string& error() const { return error_; }

 private:
  void Fail(std::string message) {
    if (error_.empty()) error_ = "yaml: " + std::move(message);
  }

  bool Next(EventCloser& next) {
    if (yaml_parser_parse(&parser_, &next.event)) return true;
    // Which of the marks counts, and from what it counts, is upstream's doing.
    size_t line = 0;
    if (parser_.error != YAML_READER_ERROR) {
      if (parser_.problem_mark.line != 0) {
        line = parser_.problem_mark.line + (parser_.error == YAML_SCANNER_ERROR ? 1 : 0);
      } else {
        line = parser_.context_mark.line;
      }
    }
    std::string where = line != 0 ? fmt::format("line {}: ", line) : "";
    Fail(where + (parser_.problem ? parser_.problem : "unknown problem parsing YAML content"));
    return false;
  }

  Node Compose(yaml_event_t& event, int depth) {
    if (depth > kMaxDepth) {
      Fail(fmt::format("exceeded max depth of {}", kMaxDepth));
      return {};
    }
    switch (event.type) {
      case YAML_ALIAS_EVENT:
        return Alias(Text(event.data.alias.anchor));
      case YAML_SCALAR_EVENT: {
        Node node = Scalar(event);
        return Anchored(Text(event.data.scalar.anchor), node);
      }
      case YAML_SEQUENCE_START_EVENT: {
        std::string anchor(Text(event.data.sequence_start.anchor));
        return Anchored(anchor, Sequence(anchor, depth));
      }
      case YAML_MAPPING_START_EVENT: {
        std::string anchor(Text(event.data.mapping_start.anchor));
        return Anchored(anchor, Mapping(anchor, depth));
      }
      default:
        Fail("unexpected event");
        return {};
    }
  }

  static std::string_view Text(const unsigned char* text) {
    return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
  }

  Node Anchored(std::string_view anchor, Node node) {
    if (!anchor.empty()) anchors_[std::string(anchor)] = node;
    return node;
  }

  Node Alias(std::string_view anchor) {
    if (std::find(open_.begin(), open_.end(), anchor) != open_.end()) {
      Fail(fmt::format("anchor '{}' value contains itself", anchor));
      return {};
    }
    auto found = anchors_.find(std::string(anchor));
    if (found == anchors_.end()) {
      Fail(fmt::format("unknown anchor '{}' referenced", anchor));
      return {};
    }
    total_ += found->second.nodes;
    aliased_ += found->second.nodes;
    if (aliased_ > 100 && total_ > 1000 && aliased_ / total_ > AllowedAliasShare(total_)) {
      Fail("document contains excessive aliasing");
    }
    return found->second;
  }

  Node Scalar(const yaml_event_t& event) {
    ++total_;
    const auto& scalar = event.data.scalar;
    std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    text = arena_.CopyString(text);
    std::string_view tag = Text(scalar.tag);
    if (tag.empty() && !scalar.plain_implicit) return {Value::String(text), YamlTag::kString};
    return Tagged(text, tag);
  }

  Node Tagged(std::string_view text, std::string_view tag) {
    constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
    std::string_view kind = tag.starts_with(kPrefix) ? tag.substr(kPrefix.size()) : tag;
    if (!tag.empty() && kind != "null" && kind != "bool" && kind != "int" && kind != "float" &&
        kind != "timestamp") {
      return {Value::String(text), YamlTag::kString};
    }
    YamlScalar resolved = ResolveYamlScalar(text);
    static constexpr std::string_view kKinds[] = {"null", "bool", "int", "float", "str", "merge"};
    std::string_view is = kKinds[static_cast<size_t>(resolved.tag)];
    if (kind == "float" && resolved.tag == YamlTag::kInt) {
      return {Value::Double(resolved.value.AsDouble()), YamlTag::kFloat};
    }
    if (!tag.empty() && kind != is && kind != "timestamp") {
      Fail(fmt::format("cannot decode !!{} `{}` as a !!{}", is, text, kind));
      return {};
    }
    if (!resolved.finite && error_.empty()) {
      bool negative = text.starts_with('-');
      bool nan = text.size() > 1 && (text[1] | 0x20) == 'n';
      error_ = fmt::format("json: unsupported value: {}", nan ? "NaN" : negative ? "-Inf" : "+Inf");
    }
    return {resolved.value, resolved.tag};
  }

  Node Sequence(const std::string& anchor, int depth) {
    ++total_;
    Node node;
    if (!anchor.empty()) open_.push_back(anchor);
    std::vector<Value> items;
    while (error_.empty()) {
      EventCloser next;
      if (!Next(next) || next.event.type == YAML_SEQUENCE_END_EVENT) break;
      Node item = Compose(next.event, depth + 1);
      node.nodes += item.nodes;
      items.push_back(item.value);
    }
    if (!anchor.empty()) open_.pop_back();
    auto* copy = arena_.AllocateArray<Value>(items.size());
    std::copy(items.begin(), items.end(), copy);
    node.value = Value::List({copy, items.size()});
    return node;
  }

  Node Mapping(const std::string& anchor, int depth) {
    ++total_;
    Node node;
    if (!anchor.empty()) open_.push_back(anchor);
    std::map<std::string_view, Value> members;
    while (error_.empty()) {
      EventCloser key_event;
      if (!Next(key_event) || key_event.event.type == YAML_MAPPING_END_EVENT) break;
      Node key = Compose(key_event.event, depth + 1);
      EventCloser value_event;
      if (!error_.empty() || !Next(value_event)) break;
      size_t line = value_event.event.start_mark.line + 1;
      Node value = Compose(value_event.event, depth + 1);
      node.nodes += key.nodes + value.nodes;
      if (!error_.empty()) break;
      if (key.tag == YamlTag::kMerge) {
        Merge(value.value, line, members);
      } else {
        Set(members, KeyText(key), key, value.value, line);
      }
    }
    if (!anchor.empty()) open_.pop_back();
    auto* copy = arena_.AllocateArray<Member>(members.size());
    size_t count = 0;
    for (const auto& [key, value] : members) {
      new (&copy[count++]) Member(InternName(arena_, key), value);
    }
    node.value = Value::Object({copy, count});
    return node;
  }

  void Set(std::map<std::string_view, Value>& members, std::string_view text, const Node& key,
           Value value, size_t line) {
    auto [at, added] = members.emplace(text, value);
    if (added) return;
    if (!options_.duplicates) {
      at->second = value;
      return;
    }
    std::string shown;
    if (key.value.is_string()) {
      shown = ToJson(key.value);
    } else {
      shown = text;
    }
    options_.duplicates->push_back(fmt::format("line {}: key {} already set in map", line, shown));
  }

  void Merge(const Value& value, size_t line, std::map<std::string_view, Value>& members) {
    if (value.is_object()) {
      for (const Member& member : value.members()) {
        Set(members, member.key(), {Value::String(member.key())}, member.value, line);
      }
      return;
    }
    if (value.is_list()) {
      // Earlier ones win, so the last is merged first.
      auto items = value.items();
      for (size_t i = items.size(); i > 0; --i) {
        if (!items[i - 1].is_object()) break;
        Merge(items[i - 1], line, members);
      }
      if (std::all_of(items.begin(), items.end(), [](const Value& v) { return v.is_object(); })) {
        return;
      }
    }
    Fail("map merge requires map or sequence of maps as the value");
  }

  std::string_view KeyText(const Node& key) {
    switch (key.value.kind()) {
      case Kind::kString:
        return key.value.AsString();
      case Kind::kInt:
        return arena_.CopyString(std::to_string(key.value.AsInt()));
      case Kind::kBool:
        return key.value.AsBool() ? "true" : "false";
      case Kind::kDouble:
        return arena_.CopyString(fmt::format("{}", static_cast<float>(key.value.AsDouble())));
      case Kind::kNull:
        if (error_.empty()) {
          error_ =
              "unsupported map key of type: %!s(<nil>), key: interface {}(nil), value: interface "
              "{}(nil)";
        }
        return {};
      default:
        Fail("invalid map key");
        return {};
    }
  }

  yaml_parser_t parser_;
  Arena& arena_;
  const YamlOptions& options_;
  std::map<std::string, Node> anchors_;
  std::vector<std::string> open_;  // anchors of the containers being composed
  double total_ = 0;
  double aliased_ = 0;
  std::string error_;
};

}  // namespace

Result<Document> ParseYaml(std::string_view text, const YamlOptions& options) {
  ArenaRef arena = Arena::Make(text.size() * 4 + 256);
  Composer composer(text, *arena, options);
  Value root = composer.Run();
  if (!composer.error().empty()) {
    return std::unexpected(Error{ErrorCode::kInvalid, composer.error()});
  }
  return Document(root, std::move(arena));
}

Result<std::string> YamlToJson(std::string_view text, const YamlOptions& options) {
  TRY(Document document, ParseYaml(text, options));
  return ToJson(document.root());
}

}  // namespace keelson::value
