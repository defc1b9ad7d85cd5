// Any bytes as a patch, decoded and applied in each of the three untyped ways to a fixed object.
// The first byte chooses which.

#include <cstdint>
#include <string_view>

#include "patch/json_patch.h"
#include "patch/merge_patch.h"
#include "patch/strategic_merge.h"
#include "schema/type.h"
#include "value/json.h"

namespace {

using namespace keelson;

constexpr std::string_view kObject =
    R"({"a":{"b":[1,{"c":"d"},null]},"list":[{"name":"x","v":1},{"name":"y"}],"tags":["a","b"]})";

// a: struct; list: keyed by name; tags: joined scalars.
struct Types {
  value::Name names[4] = {value::Name::Plain("name"), value::Name::Plain("list"),
                          value::Name::Plain("tags"), value::Name::Plain("a")};
  schema::Type text{.kind = schema::TypeKind::kString};
  schema::FieldExtra by_name{.patch_merge_key = "name"};
  schema::Field item_fields[1] = {{.name = &names[0], .type = &text}};
  uint32_t item_slots[schema::SlotCount(1)];
  schema::Type item{.kind = schema::TypeKind::kStruct};
  schema::Type items{.kind = schema::TypeKind::kList, .element = &item};
  schema::Type texts{.kind = schema::TypeKind::kList, .element = &text};
  schema::Field fields[3] = {
      {.name = &names[1], .type = &items, .extra = &by_name, .flags = schema::Field::kPatchMerge},
      {.name = &names[2], .type = &texts, .flags = schema::Field::kPatchMerge},
      {.name = &names[3], .type = &item}};
  uint32_t slots[schema::SlotCount(3)];
  schema::Type object{.kind = schema::TypeKind::kStruct};

  Types() {
    schema::FillSlots(item_fields, item_slots);
    item.fields_data = item_fields;
    item.field_count = 1;
    item.slots = item_slots;
    item.slot_mask = std::size(item_slots) - 1;
    schema::FillSlots(fields, slots);
    object.fields_data = fields;
    object.field_count = 3;
    object.slots = slots;
    object.slot_mask = std::size(slots) - 1;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Types types;
  static const value::Document object = *value::ParseJson(kObject);
  if (size == 0) return 0;
  auto patch = value::ParseJson({reinterpret_cast<const char*>(data) + 1, size - 1});
  if (!patch) return 0;
  ApiResult<value::Document> patched = object;
  switch (data[0] % 3) {
    case 0:
      if (auto decoded = patch::DecodeJsonPatch(*patch)) {
        patched = patch::ApplyJsonPatch(object, *decoded, *patch);
      }
      break;
    case 1:
      patched = patch::ApplyMergePatch(object, *patch);
      break;
    default:
      patched = patch::ApplyStrategicMergePatch(object, *patch, types.object);
  }
  // What comes out is a whole tree, and the object is as it was.
  if (patched) value::ToJson(patched->root());
  KEELSON_CHECK(value::ToJson(object.root()) == kObject);
  return 0;
}
