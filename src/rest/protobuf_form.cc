#include "rest/protobuf_form.h"

#include <utility>

#include "schema/finished_json.h"
#include "schema/protobuf.h"

namespace keelson::rest {

Slice ProtobufMessage(const schema::Type& type, std::string_view json) {
  auto arena = value::Arena::Make(json.size());
  return Slice::Copy(schema::EncodeProtobuf(type, schema::ReadFinishedJson(type, json, *arena)));
}

Slice ProtobufMessage(const schema::Type& type, const storage::CachedObject& object,
                      FormCache* cache) {
  if (cache == nullptr) return ProtobufMessage(type, object.json_view());
  if (auto kept = cache->Find(&type, object)) return *std::move(kept);
  auto message = ProtobufMessage(type, object.json_view());
  cache->Keep(&type, object, message);
  return message;
}

void AppendEnvelope(std::string_view api_version, std::string_view kind, const Slice& message,
                    Body& body) {
  body.text() += schema::ProtobufEnvelopeHead(api_version, kind, message.size());
  body.Share(message);
  body.text() += schema::kProtobufEnvelopeTail;
}

size_t EnvelopeSize(std::string_view api_version, std::string_view kind, const Slice& message) {
  return schema::ProtobufEnvelopeHead(api_version, kind, message.size()).size() + message.size() +
         schema::kProtobufEnvelopeTail.size();
}

}  // namespace keelson::rest
