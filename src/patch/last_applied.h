#pragma once

// The annotation that client-side apply keeps, and the way from it to server-side apply.
//
// An object that kubectl has applied from the client carries the last configuration as text. When
// kubectl then applies it from the server, what still stands as that text says counts as kubectl's,
// so that taking it over is no conflict; and the text is kept up to date for older clients.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "patch/typed.h"
#include "value/document.h"

namespace keelson::patch {

inline constexpr std::string_view kLastAppliedAnnotation =
    "kubectl.kubernetes.io/last-applied-configuration";
// The manager that this is done for; another name opts out.
inline constexpr std::string_view kKubectl = "kubectl";

// The fields of the annotation that the live object still has as they were applied. Nothing when
// there is no annotation, or it cannot be read as this type and version.
std::optional<FieldSet> FieldsLastApplied(Arena& arena, const schema::Type& type,
                                          std::string_view api_version, const Value& live);

// Where `object` has the annotation, sets it to `config`; drops it when that would make the
// annotations too large.
void SyncLastApplied(value::Builder& object, const Value& config);

}  // namespace keelson::patch
