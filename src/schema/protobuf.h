#pragma once

// Typed trees as protobuf, byte for byte as upstream marshals them, and back.
//
// Value fields are always written, also when zero; pointers only when set; fields ascend by number
// and map entries by key. Kind and apiVersion are not part of a message; they travel in the
// envelope:
//
//   k8s\0  Unknown{1: TypeMeta{1: apiVersion, 2: kind}, 2: message, 3: encoding, 4: content type}
//
// Reading skips unknown fields and refuses wrong wire types, in upstream's words.

#include <string>
#include <string_view>

#include "base/result.h"
#include "schema/type.h"
#include "value/document.h"

namespace keelson::schema {

inline constexpr std::string_view kProtobufPrefix{"k8s\0", 4};

// The message alone. The value must be of the type; fields the type lacks are left out. What has no
// protobuf form (kAny) is left out too.
std::string EncodeProtobuf(const Type& type, const value::Value& value);
// The message in its envelope, with the object's own apiVersion and kind.
std::string EncodeProtobufEnvelope(const Type& type, const value::Value& object);

// The parts of an envelope around a message of `message_size` bytes.
std::string ProtobufEnvelopeHead(std::string_view api_version, std::string_view kind,
                                 size_t message_size);
inline constexpr std::string_view kProtobufEnvelopeTail{"\x1a\0\x22\0", 4};
// Appends what stands before a field of `size` bytes.
void AppendProtobufField(std::string& out, uint32_t number, size_t size);

// The tree is in canonical form. `type` is a struct. `bytes` is copied once.
Result<value::Document> DecodeProtobuf(const Type& type, std::string_view bytes);

struct ProtobufEnvelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;
  std::string_view content_encoding;
  std::string_view content_type;
};
// Views into `bytes`, which start with the prefix.
Result<ProtobufEnvelope> ReadProtobufEnvelope(std::string_view bytes);
// The envelope's message as an object that has its apiVersion and kind.
Result<value::Document> DecodeProtobufEnvelope(const Type& type, std::string_view bytes);

// One event of a protobuf watch stream is this header followed by the object in its envelope:
// a 4-byte length, then WatchEvent{1: type, 2: RawExtension{1: object}}.
std::string ProtobufWatchHeader(std::string_view event_type, size_t object_size);

}  // namespace keelson::schema
