#pragma once

// The answers generic code gives, in upstream's exact forms.

#include <string>
#include <string_view>

#include "base/status.h"
#include "server/request_context.h"

namespace keelson::server {

// As Go's http.Error: text/plain, nosniff, the text and a newline.
void SendError(RequestContext& context, int code, std::string_view text);

// "404 page not found"
void SendNotFound(RequestContext& context);

// 404 as a Status, for a path below something that exists.
void SendNotFoundStatus(RequestContext& context);

// A Status object as JSON: one line, or indented for people's clients (curl, Wget, browsers) and on
// ?pretty=true. Sets Retry-After when the status carries it.
void SendStatus(RequestContext& context, const Status& status);

// The text/plain 500 upstream sends when the request cannot be placed at all.
void SendInternalError(RequestContext& context, std::string_view what);

// A whole answer with a content type.
void SendBody(RequestContext& context, int code, std::string_view content_type, std::string body);

// Whether this client gets indented JSON.
bool WantsPretty(RequestContext& context);

}  // namespace keelson::server
