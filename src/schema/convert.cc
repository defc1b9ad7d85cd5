#include "schema/convert.h"

#include <utility>

#include "schema/transform.h"

namespace keelson::schema {

using value::Arena;
using value::Builder;
using value::Document;
using value::Member;
using value::Value;

namespace {

// The fields that events.k8s.io renamed: {its name, core's name}.
constexpr std::pair<std::string_view, std::string_view> kEventNames[] = {
    {"regarding", "involvedObject"},
    {"note", "message"},
    {"reportingController", "reportingComponent"},
    {"deprecatedSource", "source"},
    {"deprecatedFirstTimestamp", "firstTimestamp"},
    {"deprecatedLastTimestamp", "lastTimestamp"},
    {"deprecatedCount", "count"},
};

Value RenameEvent(const Value& object, Arena& arena, bool to_core) {
  auto members = object.members();
  auto* out = arena.AllocateArray<Member>(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    const value::Name* name = members[i].name;
    for (const auto& [event, core] : kEventNames) {
      if (name->text() == (to_core ? event : core)) {
        name = value::InternName(arena, to_core ? core : event);
        break;
      }
    }
    new (&out[i]) Member(name, members[i].value.Shared());
  }
  return Value::Object({out, members.size()});
}

Value EventToCore(const Value& object, Arena& arena) { return RenameEvent(object, arena, true); }
Value EventFromCore(const Value& object, Arena& arena) { return RenameEvent(object, arena, false); }

constexpr ConversionPair kPairs[] = {
    {{"autoscaling", "v1", "HorizontalPodAutoscaler"},
     {"autoscaling", "v2", "HorizontalPodAutoscaler"},
     AutoscalerToV2,
     AutoscalerToV1},
    {{"events.k8s.io", "v1", "Event"}, {"", "v1", "Event"}, EventToCore, EventFromCore},
};

bool Is(const GroupVersionKind& gvk, std::string_view api_version, std::string_view kind) {
  size_t slash = api_version.find('/');
  bool core = slash == std::string_view::npos;
  return gvk.kind == kind && gvk.group == (core ? "" : api_version.substr(0, slash)) &&
         gvk.version == (core ? api_version : api_version.substr(slash + 1));
}

}  // namespace

std::span<const ConversionPair> BuiltInConversions() { return kPairs; }

Result<Document> TableConverter::ConvertNow(const Document& object,
                                            std::string_view api_version) const {
  std::string_view from = object.root()["apiVersion"].AsString();
  std::string_view kind = object.root()["kind"].AsString();
  if (from == api_version) return object;
  // At most two steps: to the hub, and from it.
  const ConversionPair* up = nullptr;
  const ConversionPair* down = nullptr;
  for (const ConversionPair& pair : pairs_) {
    if (Is(pair.spoke, from, kind)) up = &pair;
    if (Is(pair.spoke, api_version, kind)) down = &pair;
  }
  bool reaches = (up && Is(up->hub, api_version, kind)) || (down && Is(down->hub, from, kind)) ||
                 (up && down && up->hub == down->hub);
  const GroupVersionKind* target = up && Is(up->hub, api_version, kind) ? &up->hub : nullptr;
  if (!target && down) target = &down->spoke;
  const GroupVersionInfo* version =
      reaches && target ? catalog_.Find(target->group, target->version) : nullptr;
  const Type* type = version ? version->FindKind(kind) : nullptr;
  if (!type) {
    return Fail(ErrorCode::kUnsupported, "{} {} cannot be converted to {}", from, kind,
                api_version);
  }
  Builder builder(object);
  Value value = object.root();
  if (up) value = up->to_hub(value, builder.arena());
  if (target != nullptr && down && target == &down->spoke) {
    value = down->to_spoke(value, builder.arena());
  }
  builder.root().Set(value);
  builder.root().SetField("apiVersion", builder.String(api_version));
  Document converted = std::move(builder).Finish();
  Normalize(*type, converted);
  return converted;
}

Task<Result<Document>> TableConverter::Convert(Document object, std::string api_version) {
  co_return ConvertNow(object, api_version);
}

}  // namespace keelson::schema
