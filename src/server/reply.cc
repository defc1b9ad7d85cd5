#include "server/reply.h"

#include "base/quote.h"
#include "rest/render.h"

namespace keelson::server {
namespace {

constexpr std::string_view kContentType = "Content-Type";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kPlain = "text/plain; charset=utf-8";

void Send(RequestContext& context, int code, std::string body) {
  std::vector<Slice> slices;
  slices.push_back(Slice::Own(std::move(body)));
  context.response.Send(code, std::move(slices));
}

}  // namespace

void SendBody(RequestContext& context, int code, std::string_view content_type, std::string body) {
  context.response.headers().Set(kContentType, content_type);
  Send(context, code, std::move(body));
}

void SendError(RequestContext& context, int code, std::string_view text) {
  auto& headers = context.response.headers();
  headers.Set(kContentType, kPlain);
  headers.Set("X-Content-Type-Options", "nosniff");
  std::string body(text);
  body += '\n';
  Send(context, code, std::move(body));
}

void SendNotFound(RequestContext& context) { SendError(context, 404, "404 page not found"); }

void SendNotFoundStatus(RequestContext& context) {
  SendStatus(context, {.code = 404,
                       .reason = "NotFound",
                       .message = "the server could not find the requested resource",
                       .details = StatusDetails{}});
}

void SendInternalError(RequestContext& context, std::string_view what) {
  SendError(context, 500,
            WithoutMarkup(
                fmt::format("Internal Server Error: {}: {}", Quote(context.request.target), what)));
}

bool WantsPretty(RequestContext& context) {
  if (!context.request.raw_query.empty()) {
    // A value that is given wins over the client's name; one that is no boolean means false.
    auto pretty = context.query().Get("pretty").value_or("");
    if (!pretty.empty()) {
      return pretty == "true" || pretty == "1" || pretty == "t" || pretty == "T" ||
             pretty == "TRUE" || pretty == "True";
    }
  }
  auto agent = context.request.headers.Get("user-agent").value_or("");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

void SendStatus(RequestContext& context, const Status& status) {
  if (status.details && status.details->retry_after_seconds > 0) {
    context.response.headers().Set("Retry-After",
                                   std::to_string(status.details->retry_after_seconds));
  }
  auto body = status.ToJson();
  if (WantsPretty(context)) {
    body = rest::IndentJson(body);
  } else {
    body += '\n';
  }
  SendBody(context, status.code, kJson, std::move(body));
}

}  // namespace keelson::server
