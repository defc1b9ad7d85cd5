#pragma once

// Where the storage behind a PersistentVolume comes from: exactly one of two dozen sources.

#include "schema/field_error.h"
#include "value/path.h"
#include "value/value.h"

namespace keelson::kube::core {

// `spec` is a PersistentVolumeSpec at `path`; `volume` is the volume's name.
void ValidateVolumeSource(const value::Value& spec, std::string_view volume,
                          const value::Path& path, schema::FieldErrors& errors);

}  // namespace keelson::kube::core
