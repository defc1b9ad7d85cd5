#pragma once

// /openapi/v2, /openapi/v3 and what is below it.
//
// Every method is answered like GET, as upstream does. A document of version 3 asked for by its
// hash may be cached for ever; with a hash that is not its own, the client is sent to the right
// one.

#include <memory>

#include "server/endpoint.h"
#include "server/openapi_documents.h"
#include "server/path_mux.h"

namespace keelson::server {

// The documents live as long as the endpoints.
void InstallOpenApi(PathMux& mux, std::shared_ptr<OpenApiDocuments> documents, const Clock& clock);

}  // namespace keelson::server
