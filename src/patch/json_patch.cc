#include "patch/json_patch.h"

#include <charconv>
#include <optional>

#include "patch/json_size.h"
#include "patch/merge_patch.h"

namespace keelson::patch {
namespace {

using value::Builder;
using value::Document;
using value::Member;
using value::Ref;
using value::Value;
using Kind = JsonPatchOperation::Kind;

Kind ParseKind(std::string_view text) {
  static constexpr std::string_view kNames[] = {"add", "remove", "replace", "move", "test", "copy"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (text == kNames[i]) return static_cast<Kind>(i);
  }
  return Kind::kUnknown;
}

Status CannotUnmarshal(const Value& value, std::string_view into) {
  return BadRequestStatus(fmt::format("error decoding patch: json: cannot unmarshal {} into Go {}",
                                      JsonKindText(value), into));
}

ApiResult<JsonPatchOperation> DecodeOperation(const Value& encoded, size_t index,
                                              std::vector<std::string>& strict_errors) {
  JsonPatchOperation operation;
  if (!encoded.is_object() && !encoded.is_null()) {
    return std::unexpected(CannotUnmarshal(encoded, "value of type handlers.jsonPatchOp"));
  }
  for (const Member& member : encoded.members()) {
    std::string_view key = member.key();
    if (key == "value") {
      operation.value = member.value.Shared();
      continue;
    }
    if (key != "op" && key != "path" && key != "from") {
      strict_errors.push_back(fmt::format("json patch unknown field \"[{}].{}\"", index, key));
      continue;
    }
    if (member.value.is_null()) continue;
    if (!member.value.is_string()) {
      return std::unexpected(CannotUnmarshal(
          member.value, fmt::format("struct field jsonPatchOp.{} of type string", key)));
    }
    std::string_view text = member.value.AsString();
    if (key == "op") {
      operation.kind = ParseKind(text);
    } else if (key == "path") {
      operation.has_path = true;
      operation.path = text;
    } else {
      operation.has_from = true;
      operation.from = text;
    }
  }
  return operation;
}

// ~1 is a slash, ~0 a tilde.
std::string DecodeToken(std::string_view token) {
  std::string text;
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
      text.push_back(token[++i] == '1' ? '/' : '~');
    } else {
      text.push_back(token[i]);
    }
  }
  return text;
}

// An index into a list of `size`, counted from the end when negative; nothing when out of range or
// no number.
std::optional<size_t> ParseIndex(std::string_view text, size_t size) {
  int64_t index = 0;
  const char* end = text.data() + text.size();
  const char* begin = text.starts_with('+') ? text.data() + 1 : text.data();
  auto [at, error] = std::from_chars(begin, end, index);
  if (begin == end || error != std::errc() || at != end) return std::nullopt;
  if (index < 0) index += static_cast<int64_t>(size);
  if (index < 0 || index >= static_cast<int64_t>(size)) return std::nullopt;
  return static_cast<size_t>(index);
}

// The container that a path's last token is about, and that token.
struct Target {
  Ref container;
  std::string key;
};

class Application {
 public:
  explicit Application(Builder& object) : object_(object) {}

  // Whether the operation applies.
  bool Run(const JsonPatchOperation& operation) {
    switch (operation.kind) {
      case Kind::kAdd: {
        auto target = Find(operation.has_path, operation.path);
        return target && Add(*target, operation.value);
      }
      case Kind::kRemove: {
        auto target = Find(operation.has_path, operation.path);
        return target && Remove(*target);
      }
      case Kind::kReplace:
        return Replace(operation);
      case Kind::kMove:
        return Move(operation);
      case Kind::kTest:
        return Test(operation);
      case Kind::kCopy:
        return Copy(operation);
      case Kind::kUnknown:
        return false;
    }
    return false;
  }

 private:
  std::optional<Target> Find(bool given, std::string_view path) {
    size_t slash = path.find('/');
    if (!given || slash == std::string_view::npos) return std::nullopt;
    Ref at = object_.root();
    std::string_view rest = path.substr(slash + 1);
    while ((slash = rest.find('/')) != std::string_view::npos) {
      auto next = Step(at, DecodeToken(rest.substr(0, slash)));
      if (!next) return std::nullopt;
      at = *next;
      rest.remove_prefix(slash + 1);
    }
    return Target{at, DecodeToken(rest)};
  }

  // Goes down into a list or object.
  static std::optional<Ref> Step(Ref at, const std::string& token) {
    std::optional<Ref> next;
    if (at.kind() == value::Kind::kObject) {
      next = at.Find(token);
    } else if (auto index = ParseIndex(token, at.size())) {
      next = at.Item(*index);
    }
    if (!next || (next->kind() != value::Kind::kObject && next->kind() != value::Kind::kList)) {
      return std::nullopt;
    }
    return next;
  }

  static bool Add(Target& target, Value value) {
    if (target.container.kind() == value::Kind::kObject) {
      target.container.SetField(target.key, value);
      return true;
    }
    size_t size = target.container.size();
    auto index = target.key == "-" ? size : ParseIndex(target.key, size + 1);
    if (!index) return false;
    target.container.InsertItem(*index, value);
    return true;
  }

  static bool Remove(Target& target) {
    if (target.container.kind() == value::Kind::kObject) {
      return target.container.RemoveField(target.key);
    }
    auto index = ParseIndex(target.key, target.container.size());
    if (!index) return false;
    target.container.RemoveItem(*index);
    return true;
  }

  // What stands there; null for a missing member, nothing for an index out of range.
  static std::optional<Value> Get(Target& target) {
    if (target.container.kind() == value::Kind::kObject) {
      auto member = target.container.Find(target.key);
      return member ? member->Get() : Value::Null();
    }
    auto index = ParseIndex(target.key, target.container.size());
    if (!index) return std::nullopt;
    return target.container.Item(*index).Get();
  }

  bool Replace(const JsonPatchOperation& operation) {
    if (operation.has_path && operation.path.empty()) {
      if (!operation.value.is_object() && !operation.value.is_list()) return false;
      object_.root().Set(operation.value);
      return true;
    }
    auto target = Find(operation.has_path, operation.path);
    if (!target) return false;
    if (target->container.kind() == value::Kind::kObject) {
      target->container.SetField(target->key, operation.value);
      return true;
    }
    auto index = ParseIndex(target->key, target->container.size());
    if (!index) return false;
    target->container.Item(*index).Set(operation.value);
    return true;
  }

  bool Move(const JsonPatchOperation& operation) {
    auto source = Find(operation.has_from, operation.from);
    if (!source) return false;
    auto moved = Get(*source);
    if (!moved || !Remove(*source)) return false;
    auto target = Find(operation.has_path, operation.path);
    return target && Add(*target, *moved);
  }

  bool Copy(const JsonPatchOperation& operation) {
    auto source = Find(operation.has_from, operation.from);
    if (!source) return false;
    auto copied = Get(*source);
    auto target = Find(operation.has_path, operation.path);
    if (!copied || !target) return false;
    // Copies share storage here, but each of them will be written out.
    copied_bytes_ += JsonSize(*copied, kMaxJsonPatchCopyBytes);
    return copied_bytes_ <= kMaxJsonPatchCopyBytes && Add(*target, *copied);
  }

  bool Test(const JsonPatchOperation& operation) {
    if (operation.has_path && operation.path.empty()) {
      return object_.root().Get() == operation.value;
    }
    auto target = Find(operation.has_path, operation.path);
    if (!target) return false;
    auto found = Get(*target);
    return found && *found == operation.value;
  }

  Builder& object_;
  size_t copied_bytes_ = 0;
};

// The one answer to every patch that does not apply.
Status DoesNotApply() {
  Status status;
  status.code = 422;
  status.reason = "Invalid";
  status.message = "the server rejected our request due to an error in our request";
  status.details.emplace();
  return status;
}

}  // namespace

ApiResult<JsonPatch> DecodeJsonPatch(const Document& patch) {
  JsonPatch decoded;
  if (!patch.root().is_list() && !patch.root().is_null()) {
    return std::unexpected(CannotUnmarshal(patch.root(), "value of type []handlers.jsonPatchOp"));
  }
  auto items = patch.root().items();
  if (items.size() > kMaxJsonPatchOperations) {
    return std::unexpected(RequestEntityTooLargeStatus(
        fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                    kMaxJsonPatchOperations, items.size())));
  }
  decoded.operations.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    TRY(auto operation, DecodeOperation(items[i], i, decoded.strict_errors));
    decoded.operations.push_back(operation);
  }
  return decoded;
}

ApiResult<Document> ApplyJsonPatch(const Document& object, const JsonPatch& patch,
                                   const Document& patch_document) {
  Builder out(object);
  out.Adopt(patch_document);
  Application application(out);
  for (const JsonPatchOperation& operation : patch.operations) {
    if (!application.Run(operation)) return std::unexpected(DoesNotApply());
  }
  return std::move(out).Finish();
}

}  // namespace keelson::patch
