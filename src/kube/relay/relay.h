#pragma once

// Relaying: a client's request goes on to somebody else, whose answer goes back.
//
// Plain requests are relayed piece by piece in both directions, with headers that concern one
// connection only left out. A request to switch protocols (SPDY, WebSocket) becomes a tunnel: once
// the other side has agreed, bytes are passed on as they are until one side is done.
//
// Everything runs on the request's io thread.

#include <string>
#include <string_view>

#include "base/status.h"
#include "base/task.h"
#include "http/client.h"
#include "http/exchange.h"
#include "rest/resource.h"

namespace keelson::kube {

struct RelayTarget {
  std::string origin;  // "https://10.0.0.1:10250"
  std::string path;    // percent-encoded, may be empty
  std::string query;   // without '?'
};

// Whether the client asks to switch protocols.
bool AsksForUpgrade(const http::Request& request);

// Switches protocols with the target, or passes on its refusal.
Task<void> RelayUpgrade(rest::Request request, http::Client& client, RelayTarget target);

// Passes the request on and the answer back. `prefix` is what the client sees in front of the
// target's own path: places the target names on itself get it put in front.
Task<void> RelayPlain(rest::Request request, http::Client& client, RelayTarget target,
                      std::string prefix);

// A Status as JSON.
void SendStatus(const rest::Request& request, const Status& status);

// What a client failure is about, without the method and URL it names.
std::string_view WithoutUrl(std::string_view message);

// `path` with everything escaped that Go's net/url escapes in one.
std::string EscapePath(std::string_view path);
// A query in Go's form: spaces as '+'.
std::string EscapeQuery(std::string_view text);

// Where the target sends the client, as the client must ask for it.
std::string RewriteLocation(std::string_view location, std::string_view origin,
                            std::string_view client_host, std::string_view prefix);

}  // namespace keelson::kube
