#pragma once

// Objects in the form a client asked for, made from their finished JSON.
//
// JSON itself is never touched: it is sent as it stands. Protobuf is written by the kind's schema,
// YAML by what stands in the text.

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "rest/media_type.h"
#include "schema/resource.h"
#include "storage/cached_object.h"

namespace keelson::rest {

// The value of the Content-Type header.
std::string_view ContentTypeOf(Format format, bool stream);

// An object of `type`, given as finished JSON with kind and apiVersion in front, as the slices of a
// whole answer.
ApiResult<std::vector<Slice>> RenderObject(const schema::Type& type, const Slice& json,
                                           const OutputMedia& media);

// The same for JSON in pieces.
ApiResult<std::vector<Slice>> Render(const schema::Type& type, std::vector<Slice> json,
                                     const OutputMedia& media);

// Compact JSON laid out for people: two spaces of indent, one space behind a colon. The
// input must be valid and without white space.
std::string IndentJson(std::string_view compact);

}  // namespace keelson::rest
