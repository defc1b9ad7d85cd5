// Bytes as a message: refused with a message, or stable once decoded.

#include "api/apiextensions_v1.h"
#include "api/core_v1.h"
#include "schema/protobuf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const schema::Type* type :
       {&api::core_v1::Pod::Schema(), &api::apiextensions_v1::CustomResourceDefinition::Schema()}) {
    auto object = schema::DecodeProtobuf(*type, bytes);
    if (!object) {
      KEELSON_CHECK(!object.error().message.empty());
      continue;
    }
    std::string written = schema::EncodeProtobuf(*type, object->root());
    auto again = schema::DecodeProtobuf(*type, written);
    KEELSON_CHECK(again.has_value());
    KEELSON_CHECK(schema::EncodeProtobuf(*type, again->root()) == written);
  }
  (void)schema::ReadProtobufEnvelope(bytes);
  return 0;
}
