#include "server/routes.h"

#include "rest/render.h"
#include "server/reply.h"

namespace keelson::server {

std::shared_ptr<Endpoint> IndexEndpoint(int code, std::function<std::vector<std::string>()> paths) {
  return std::make_shared<FunctionEndpoint>(
      [code, paths = std::move(paths)](RequestContext& context) {
        std::string json = R"({"paths":[)";
        bool first = true;
        for (const auto& path : paths()) {
          if (!std::exchange(first, false)) json += ',';
          AppendJsonString(json, path);
        }
        json += "]}";
        SendBody(context, code, "application/json", rest::IndentJson(json));
      });
}

void SendMethodNotAllowed(RequestContext& context) {
  SendStatus(context, {.code = 405,
                       .reason = "MethodNotAllowed",
                       .message = "the server does not allow this method on the requested resource",
                       .details = StatusDetails{}});
}

std::shared_ptr<Endpoint> VersionEndpoint(const VersionInfo& version) {
  return std::make_shared<FunctionEndpoint>(
      [body = rest::IndentJson(version.ToJson())](RequestContext& context) {
        if (context.path != "/version" && context.path != "/version/") {
          SendNotFoundStatus(context);
        } else if (context.request.method != "GET") {
          SendMethodNotAllowed(context);
        } else {
          SendBody(context, 200, "application/json", body);
        }
      });
}

std::shared_ptr<Endpoint> LifecycleEndpoint(const Signals& signals, LifecycleOptions options) {
  return std::make_shared<FunctionEndpoint>([&signals, options](RequestContext& context) {
    SendBody(context, 200, "application/json", rest::IndentJson(LifecycleJson(signals, options)));
  });
}

}  // namespace keelson::server
