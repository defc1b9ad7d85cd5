#include "server/delegation.h"

#include "server/reply.h"

namespace keelson::server {

std::shared_ptr<Endpoint> NotFoundEndpoint() {
  return std::make_shared<FunctionEndpoint>([](RequestContext& context) {
    if (!context.paths_incomplete) {
      SendNotFound(context);
      return;
    }
    auto status = ServiceUnavailableStatus(
        "the request has been made before all known HTTP paths have been installed, please try "
        "again");
    status.details = StatusDetails{.retry_after_seconds = 5};
    SendStatus(context, status);
  });
}

}  // namespace keelson::server
