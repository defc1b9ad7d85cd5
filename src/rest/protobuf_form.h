#pragma once

// Objects as protobuf, made from their finished JSON.

#include <string_view>

#include "base/bytes.h"
#include "rest/body.h"
#include "rest/form_cache.h"
#include "schema/type.h"
#include "storage/cached_object.h"
#include "storage/object_store.h"

namespace keelson::rest {

// The message of an object given as finished JSON.
Slice ProtobufMessage(const schema::Type& type, std::string_view json);
// The same of a stored one, shared with whoever asked before. `cache` may be null.
Slice ProtobufMessage(const schema::Type& type, const storage::CachedObject& object,
                      FormCache* cache);

// A message in its envelope, as a whole answer or as the object of a watch event.
void AppendEnvelope(std::string_view api_version, std::string_view kind, const Slice& message,
                    Body& body);
size_t EnvelopeSize(std::string_view api_version, std::string_view kind, const Slice& message);

}  // namespace keelson::rest
