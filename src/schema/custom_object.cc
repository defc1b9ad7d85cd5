#include "schema/custom_object.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "schema/transform.h"
#include "value/json.h"

namespace keelson::schema {

namespace {

using value::Arena;
using value::Document;
using value::Member;
using value::Value;

constexpr std::string_view kUnknown = "unknown field \"";

bool ByKey(const Member& a, const Member& b) { return a.key() < b.key(); }

bool IsSorted(const Value& value) {
  if (value.is_list()) return std::ranges::all_of(value.items(), IsSorted);
  const auto members = value.members();
  return std::ranges::is_sorted(members, ByKey) &&
         std::ranges::all_of(members, [](const Member& member) { return IsSorted(member.value); });
}

// The same value with all members sorted; itself when they are, as they nearly always are.
Value Sorted(const Value& value, Arena& arena) {
  if (IsSorted(value)) return value.Shared();
  if (value.is_list()) {
    const auto items = value.items();
    auto* copy = arena.AllocateArray<Value>(items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      std::construct_at(&copy[i], Sorted(items[i], arena));
    }
    return Value::List({copy, items.size()});
  }
  const auto members = value.members();
  auto* copy = arena.AllocateArray<Member>(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    std::construct_at(&copy[i], members[i].name, Sorted(members[i].value, arena));
  }
  std::ranges::sort(copy, copy + members.size(), ByKey);
  return Value::Object({copy, members.size()});
}

// metadata by its type. What it does not know is named by its path in the whole object.
Result<void> TypeMetadata(const Type& type, Document& object, const DecodeOptions& options,
                          std::vector<std::string>& errors) {
  const Field* field = type.Find("metadata");
  const Value* metadata = object.root().Find("metadata");
  if (metadata == nullptr || field->type->kind != TypeKind::kStruct) return {};
  TRY(auto decoded, DecodeJson(*field->type, value::ToJson(*metadata), options));
  for (auto& error : decoded.strict_errors) {
    if (error.starts_with(kUnknown)) error.insert(kUnknown.size(), "metadata.");
    errors.push_back(std::move(error));
  }
  value::Builder builder(object);
  builder.Adopt(decoded.object);
  builder.root().SetField("metadata", decoded.object.root());
  object = std::move(builder).Finish();
  return {};
}

}  // namespace

Result<Decoded> DecodeCustomJson(const Type& type, std::string_view text,
                                 const DecodeOptions& options) {
  Decoded decoded;
  auto* errors = options.strict ? &decoded.strict_errors : nullptr;
  TRY(decoded.object, value::ParseJson(text, {.sort_members = true, .strict_errors = errors}));
  if (!decoded.object.root().is_object()) {
    return Fail(ErrorCode::kInvalid,
                "json: cannot unmarshal {} into Go value of type "
                "map[string]interface {{}}",
                value::KindName(decoded.object.root().kind()));
  }
  TRY_VOID(TypeMetadata(type, decoded.object, options, decoded.strict_errors));
  Prune(type, decoded.object, errors);
  PruneNulls(type, decoded.object);
  return decoded;
}

Value NormalizeCustom(const Type& type, const Value& object, Arena& arena) {
  const Field* field = type.Find("metadata");
  const Value* metadata = object.Find("metadata");
  if (metadata == nullptr) return Sorted(object, arena);
  // Sorting must not reach into metadata: it keeps the order of its type.
  const auto members = object.members();
  auto* copy = arena.AllocateArray<Member>(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    const bool typed = &members[i].value == metadata;
    std::construct_at(
        &copy[i], members[i].name,
        typed ? Normalize(*field->type, *metadata, arena) : Sorted(members[i].value, arena));
  }
  std::ranges::sort(copy, copy + members.size(), ByKey);
  return Value::Object({copy, members.size()});
}

}  // namespace keelson::schema
