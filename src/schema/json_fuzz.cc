// Bytes as a Pod or a CustomResourceDefinition: refused with a message, or canonical once decoded.

#include "api/apiextensions_v1.h"
#include "api/core_v1.h"
#include "schema/decode_json.h"
#include "value/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const schema::Type* type :
       {&api::core_v1::Pod::Schema(), &api::apiextensions_v1::CustomResourceDefinition::Schema()}) {
    auto decoded = schema::DecodeJson(*type, text, {.strict = true});
    if (!decoded) {
      KEELSON_CHECK(!decoded.error().message.empty());
      continue;
    }
    std::string json = value::ToJson(decoded->object.root());
    auto again = schema::DecodeJson(*type, json, {.strict = true});
    KEELSON_CHECK(again.has_value());
    KEELSON_CHECK(value::ToJson(again->object.root()) == json);
  }
  (void)schema::ReadTypeMeta(text);
  return 0;
}
