// fieldsV1, the stored form of a FieldSet:
//
//   {"f:data":{".":{},"f:a":{}},"f:metadata":{"f:labels":{"f:x":{}}}}
//
// A member name is a path element. An empty object says that the path is in the set; an object with
// content holds what is below, and then "." says that the path itself is in the set as well.

#include "schema/field_set.h"
#include "value/document.h"

namespace keelson::schema {
namespace {

using value::Member;
using value::Name;
using value::Value;

constexpr Name kSelf = Name::Quoted("\".\":");

struct Subtree {
  FieldSet below;
  bool member = false;
};

Result<Subtree> Parse(value::Arena& arena, FieldSetLevels& levels, const Value& fields) {
  Subtree result;
  size_t mark = levels.Open();
  for (const Member& member : fields.members()) {
    if (member.key() == kSelf.text()) {
      result.member = true;
      continue;
    }
    TRY(auto element, PathElement::ParseFieldsV1(arena, member.key()));
    if (!element) continue;
    if (!member.value.is_object() && !member.value.is_null()) {
      return Fail(ErrorCode::kInvalid, "expected an object at {}", member.key());
    }
    TRY(auto child, Parse(arena, levels, member.value));
    levels.Add(FieldSet::Entry(*element, child.member, child.below));
  }
  result.below = levels.Close(arena, mark);
  if (result.below.empty()) result.member = true;
  return result;
}

// "f:name":, laid out at once.
const Name* FieldName(value::Arena& arena, std::string_view field) {
  constexpr std::string_view kBefore = "\"f:";
  constexpr std::string_view kAfter = "\":";
  const size_t size = kBefore.size() + field.size() + kAfter.size();
  auto* raw = static_cast<char*>(arena.Allocate(sizeof(Name) + size));
  char* quoted = raw + sizeof(Name);
  kBefore.copy(quoted, kBefore.size());
  field.copy(quoted + kBefore.size(), field.size());
  kAfter.copy(quoted + kBefore.size() + field.size(), kAfter.size());
  return new (raw) Name(Name::Quoted({quoted, size}));
}

const Name* ElementName(value::Arena& arena, const PathElement& element, std::string& scratch) {
  if (element.is_field() && element.plain()) return FieldName(arena, element.field());
  scratch.clear();
  element.AppendFieldsV1(scratch);
  return value::InternName(arena, scratch);
}

Value Encode(value::Arena& arena, FieldSet set, bool self, std::string& scratch) {
  if (set.empty()) return Value::EmptyObject();
  size_t count = set.entries().size() + self;
  auto* members = arena.AllocateArray<Member>(count);
  Member* next = members;
  if (self) new (next++) Member(&kSelf, Value::EmptyObject());
  for (const FieldSet::Entry& entry : set.entries()) {
    const Name* name = ElementName(arena, entry.element, scratch);
    new (next++) Member(name, Encode(arena, entry.children(), entry.member, scratch));
  }
  return Value::Object({members, count});
}

}  // namespace

Result<FieldSet> ParseFieldsV1(value::Arena& arena, const Value& fields) {
  if (!fields.is_object() && !fields.is_null()) {
    return Fail(ErrorCode::kInvalid, "fieldsV1 must be an object");
  }
  FieldSetLevels levels;
  TRY(auto root, Parse(arena, levels, fields));
  return root.below;
}

Value ToFieldsV1(value::Arena& arena, FieldSet set) {
  std::string scratch;
  return Encode(arena, set, false, scratch);
}

}  // namespace keelson::schema
