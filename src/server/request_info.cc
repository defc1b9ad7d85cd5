#include "server/request_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace keelson::server {
namespace {

constexpr std::string_view kGroupPrefix = "apis";
constexpr std::string_view kLegacyPrefix = "api";

bool OneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view TrimSlashes(std::string_view path) {
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  return path;
}

// The remaining parts of a trimmed path; parts may be empty ("a//b").
class Parts {
 public:
  explicit Parts(std::string_view text, bool any = true) : text_(text), any_(any) {}
  bool AtLeast(size_t count) const {
    if (!any_) return count == 0;
    return count == 0 ||
           static_cast<size_t>(std::count(text_.begin(), text_.end(), '/')) + 1 >= count;
  }
  std::string_view front() const { return text_.substr(0, text_.find('/')); }
  void Pop() {
    auto slash = text_.find('/');
    any_ = slash != std::string_view::npos;
    text_ = any_ ? text_.substr(slash + 1) : std::string_view();
  }
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
  bool any_;
};

std::string_view LowerMethod(std::string_view method, std::string& kept) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kKnown{{
      {"GET", "get"},
      {"POST", "post"},
      {"PUT", "put"},
      {"PATCH", "patch"},
      {"DELETE", "delete"},
      {"HEAD", "head"},
      {"OPTIONS", "options"},
      {"CONNECT", "connect"},
  }};
  for (const auto& [upper, lower] : kKnown) {
    if (method == upper) return lower;
  }
  kept.assign(method);
  for (char& c : kept) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return kept;
}

std::string_view ResourceVerb(std::string_view method) {
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "";
}

// One "key op value" of a field selector.
struct Term {
  std::string_view key;
  std::string_view value;  // still escaped
  bool exact = false;      // = or ==
};

std::optional<Term> SplitTerm(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    auto rest = text.substr(i);
    for (std::string_view op : {"!=", "==", "="}) {
      if (rest.starts_with(op)) {
        return Term{text.substr(0, i), rest.substr(op.size()), op != "!="};
      }
    }
  }
  return std::nullopt;
}

// Undoes \\, \, and \=. Nothing when another escape or a bare comma or equals sign is found.
std::optional<std::string> UnescapeValue(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (++i == text.size() || (text[i] != '\\' && text[i] != ',' && text[i] != '=')) {
        return std::nullopt;
      }
    } else if (text[i] == ',' || text[i] == '=') {
      return std::nullopt;
    }
    out += text[i];
  }
  return out;
}

// The value that a whole, well-formed field selector requires metadata.name to have.
std::optional<std::string> ExactName(std::string_view selector) {
  std::optional<std::string> name;
  while (!selector.empty()) {
    size_t end = 0;
    while (end < selector.size() && selector[end] != ',') end += selector[end] == '\\' ? 2 : 1;
    auto part = selector.substr(0, std::min(end, selector.size()));
    selector.remove_prefix(std::min(end + 1, selector.size()));
    if (part.empty()) continue;
    auto term = SplitTerm(part);
    if (!term) return std::nullopt;
    auto value = UnescapeValue(term->value);
    if (!value) return std::nullopt;
    if (!name && term->exact && term->key == "metadata.name") name = std::move(value);
  }
  return name;
}

bool IsInteger(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Whether the list options of the query can be understood at all.
bool ListOptionsDecode(const http::Query& query) {
  for (std::string_view name : {"limit", "timeoutSeconds"}) {
    auto value = query.Get(name);
    if (value && !value->empty() && !IsInteger(*value)) return false;
  }
  return true;
}

// Booleans in queries are true unless they say otherwise; an empty value counts as true.
bool IsTrue(std::string_view value) {
  return value != "0" &&
         !(value.size() == 5 && (value[0] | 0x20) == 'f' && (value[1] | 0x20) == 'a' &&
           (value[2] | 0x20) == 'l' && (value[3] | 0x20) == 's' && (value[4] | 0x20) == 'e');
}

// A name that could not be a path segment is not taken from a selector.
bool IsPathSegment(std::string_view name) {
  return name != "." && name != ".." && name.find_first_of("/%") == std::string_view::npos;
}

// A get without a name is a list or a watch, maybe of a single object by field selector.
void RefineCollectionGet(const http::Query& query, RequestInfo& info) {
  auto watch = query.Get("watch");
  info.verb = watch && IsTrue(*watch) ? "watch" : "list";
  auto selector = query.Get("fieldSelector");
  if (!selector || !ListOptionsDecode(query)) return;
  auto name = ExactName(*selector);
  if (!name || !IsPathSegment(*name)) return;
  info.kept = *std::move(name);
  info.name = info.kept;
}

void ReadSelectors(const http::Query& query, RequestInfo& info) {
  if (!OneOf(info.verb, {"list", "watch", "deletecollection"})) return;
  info.field_selector = query.Get("fieldSelector").value_or("");
  info.label_selector = query.Get("labelSelector").value_or("");
}

}  // namespace

std::string_view RequestInfo::Part(size_t index) const {
  Parts rest(parts);
  for (; index > 0 && rest.AtLeast(1); --index) rest.Pop();
  return rest.AtLeast(1) ? rest.front() : std::string_view();
}

Result<void> ParseRequestInfo(std::string_view method, std::string_view path,
                              const http::Query& query, RequestInfo& info) {
  info.path = path;
  auto trimmed = TrimSlashes(path);
  Parts parts(trimmed, !trimmed.empty());
  bool legacy = parts.front() == kLegacyPrefix;
  if (!parts.AtLeast(3) || (!legacy && parts.front() != kGroupPrefix)) {
    info.verb = LowerMethod(method, info.kept);
    return {};
  }
  info.api_prefix = parts.front();
  parts.Pop();
  if (!legacy) {
    if (!parts.AtLeast(3)) {
      info.verb = LowerMethod(method, info.kept);
      return {};
    }
    info.api_group = parts.front();
    parts.Pop();
  }
  info.is_resource_request = true;
  info.api_version = parts.front();
  parts.Pop();

  bool verb_in_path = OneOf(parts.front(), {"watch", "proxy"});
  if (verb_in_path) {
    if (!parts.AtLeast(2)) {
      info.verb = LowerMethod(method, info.kept);
      return Fail(ErrorCode::kInvalid, "unable to determine kind and namespace from url, {}", path);
    }
    info.verb = parts.front();
    parts.Pop();
  } else {
    info.verb = ResourceVerb(method);
  }

  if (parts.front() == "namespaces" && parts.AtLeast(2)) {
    Parts below = parts;
    below.Pop();
    info.ns = below.front();
    below.Pop();
    // What follows a namespace is a resource of its own, unless the namespace has it as
    // subresource.
    if (below.AtLeast(1) && !OneOf(below.front(), {"status", "finalize"})) parts = below;
  }
  info.parts = parts.text();
  info.resource = parts.front();
  parts.Pop();
  if (parts.AtLeast(1)) {
    info.name = parts.front();
    parts.Pop();
    if (parts.AtLeast(1) && info.verb != "proxy") info.subresource = parts.front();
  }

  if (info.name.empty() && info.verb == "get") RefineCollectionGet(query, info);
  if (info.name.empty() && info.verb == "delete") info.verb = "deletecollection";
  if (!verb_in_path) ReadSelectors(query, info);
  return {};
}

bool IsLongRunning(const RequestInfo& info) {
  if (info.verb == "watch" || info.verb == "proxy") return true;
  if (info.is_resource_request) {
    return OneOf(info.subresource, {"attach", "exec", "proxy", "log", "portforward"});
  }
  return info.path.starts_with("/debug/pprof/");
}

std::string_view ScopeOf(const RequestInfo& info) {
  if (!info.name.empty() || info.verb == "create") return "resource";
  if (!info.ns.empty()) return "namespace";
  return info.is_resource_request ? "cluster" : "";
}

}  // namespace keelson::server
