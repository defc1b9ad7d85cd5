// /debug/flags: settings that can be changed while the server runs. There is one, v.

#include <charconv>

#include "base/log.h"
#include "base/quote.h"
#include "server/reply.h"
#include "server/routes.h"

namespace keelson::server {
namespace {

constexpr size_t kBodyLimit = 64;

void SendText(RequestContext& context, int code, std::string text) {
  context.response.headers().AddView("X-Content-Type-Options", "nosniff");
  SendBody(context, code, "text/plain", std::move(text) + "\n");
}

// Decimal and at most 32 bits, as upstream reads it.
Result<uint32_t> ParseLevel(std::string_view text) {
  uint32_t level = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
  if (error == std::errc::result_out_of_range) {
    return Fail(ErrorCode::kInvalid, "strconv.ParseUint: parsing {}: value out of range",
                Quote(text));
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return Fail(ErrorCode::kInvalid, "strconv.ParseUint: parsing {}: invalid syntax", Quote(text));
  }
  return level;
}

Task<void> PutVerbosity(RequestContext& context) {
  auto body = co_await context.exchange.body->ReadAll(kBodyLimit);
  if (!body) {
    SendText(context, 400, "error reading request body: " + body.error().message);
    co_return;
  }
  auto level = ParseLevel(*body);
  if (!level || *level > 1000) {
    SendText(context, 400, level ? "verbosity is out of range" : level.error().message);
    co_return;
  }
  log::SetVerbosity(static_cast<int>(*level));
  SendText(context, 200, fmt::format("successfully set klog.logging.verbosity to {}", *level));
}

class VerbosityEndpoint final : public Endpoint {
 public:
  Pending Serve(RequestContext& context) override {
    if (context.request.method == "PUT") return PutVerbosity(context);
    SendText(context, 406, "unsupported http method");
    return std::nullopt;
  }
};

constexpr std::string_view kIndex =
    "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\n"
    "flags:<br>\n<table>\n<tr>v<br>\n</table>\n<br>\nfull flags "
    "configurable<br>\n</body>\n</html>\n";

// Serves a mux straight from the transport: no identity, no limits, no headers.
class DebugHandler final : public http::Handler {
 public:
  DebugHandler() {
    InstallProfiling(mux_);
    InstallDebugFlags(mux_);
  }
  Task<void> Serve(http::Exchange& exchange) override {
    RequestContext context(exchange);
    context.path = exchange.request.path;
    if (auto pending = mux_.Serve(context)) co_await *std::move(pending);
  }

 private:
  PathMux mux_;
};

}  // namespace

void InstallDebugFlags(PathMux& mux) {
  auto index = std::make_shared<FunctionEndpoint>([](RequestContext& context) {
    SendBody(context, 200, "text/html; charset=utf-8", std::string(kIndex));
  });
  mux.Handle("/debug/flags", index, Listed::kNo);
  mux.HandlePrefix("/debug/flags/", index, Listed::kNo);
  mux.Handle("/debug/flags/v", std::make_shared<VerbosityEndpoint>(), Listed::kNo);
}

std::unique_ptr<http::Handler> MakeDebugHandler() { return std::make_unique<DebugHandler>(); }

}  // namespace keelson::server
