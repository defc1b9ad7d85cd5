// Any bytes as fieldsV1: what is accepted is written back in a form that reads as the same set.

#include <cstdint>
#include <string_view>

#include "schema/field_set.h"
#include "value/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson;
  auto document = value::ParseJson({reinterpret_cast<const char*>(data), size});
  if (!document) return 0;
  auto arena = value::Arena::Make();
  auto set = schema::ParseFieldsV1(*arena, document->root());
  if (!set) return 0;
  auto again = schema::ParseFieldsV1(*arena, schema::ToFieldsV1(*arena, *set));
  KEELSON_CHECK(again.has_value() && *again == *set);
  KEELSON_CHECK(Union(*arena, *set, *again) == *set);
  KEELSON_CHECK(Difference(*arena, *set, *again).empty());
  return 0;
}
