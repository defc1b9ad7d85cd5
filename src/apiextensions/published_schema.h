#pragma once

// The schema of a custom resource as OpenAPI shows it.

#include "schema/openapi.h"
#include "schema/resource.h"
#include "value/value.h"

namespace keelson::apiextensions {

// `version` is an entry of the definition's spec.versions; `info` outlives the result.
schema::OpenApiResource PublishedResource(const schema::ResourceInfo& info,
                                          const value::Value& version);

}  // namespace keelson::apiextensions
