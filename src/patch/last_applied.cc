#include "patch/last_applied.h"

#include "schema/scalar_text.h"
#include "value/json.h"

namespace keelson::patch {
namespace {

using value::Name;

constexpr Name kMetadata = Name::Quoted("\"metadata\":");
constexpr Name kAnnotations = Name::Quoted("\"annotations\":");
constexpr size_t kAnnotationsLimit = 256 * 1024;

std::string_view Annotation(const Value& object) {
  return object[kMetadata][kAnnotations][kLastAppliedAnnotation].AsString();
}

// Members sorted and a newline at the end, as upstream encodes objects without a type.
std::string ConfigText(const Value& config) {
  value::Builder copy;
  copy.root().Set(config);
  if (!config[kMetadata][kAnnotations].is_null()) {
    copy.root().Field(kMetadata).Field(kAnnotations).RemoveField(kLastAppliedAnnotation);
  }
  std::string text;
  schema::AppendScalarJson(text, copy.root().Get());
  return text + "\n";
}

}  // namespace

std::optional<FieldSet> FieldsLastApplied(Arena& arena, const schema::Type& type,
                                          std::string_view api_version, const Value& live) {
  std::string_view text = Annotation(live);
  if (text.empty()) return std::nullopt;
  auto parsed = value::ParseJson(text);
  if (!parsed) return std::nullopt;
  arena.Borrow(parsed->arena());
  const Value& config = parsed->root();
  if (config["apiVersion"].AsString() != api_version ||
      !CheckTyped(arena, type, live, Duplicates::kRefused) ||
      !CheckTyped(arena, type, config, Duplicates::kRefused)) {
    return std::nullopt;
  }
  auto changes = Compare(arena, type, config, live);
  if (!changes) return std::nullopt;
  FieldSet still = Difference(arena, ToFieldSet(arena, type, config), changes->modified);
  still = Difference(arena, still, changes->added);
  return Difference(arena, still, changes->removed);
}

void SyncLastApplied(value::Builder& object, const Value& config) {
  if (Annotation(object.root().Get()).empty()) return;
  auto annotations = object.root().Field(kMetadata).Field(kAnnotations);
  annotations.SetField(kLastAppliedAnnotation, object.String(ConfigText(config)));
  size_t total = 0;
  for (const auto& member : annotations.Get().members()) {
    total += member.key().size() + member.value.size();
  }
  if (total > kAnnotationsLimit) annotations.RemoveField(kLastAppliedAnnotation);
}

}  // namespace keelson::patch
