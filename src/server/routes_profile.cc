#include "server/reply.h"
#include "server/routes.h"

namespace keelson::server {

void InstallProfiling(PathMux& mux) {
  mux.Handle("/debug/pprof", std::make_shared<FunctionEndpoint>([](RequestContext& context) {
               context.response.headers().AddView("Location", "/debug/pprof/");
               SendBody(context, 302, "text/html; charset=utf-8",
                        "<a href=\"/debug/pprof/\">Found</a>.\n\n");
             }),
             Listed::kNo);
}

}  // namespace keelson::server
