#include "admission/refusal.h"

namespace keelson::admission {

std::unexpected<Status> Forbid(const Request& request, std::string_view why) {
  auto name = request.name;
  if (name.empty()) name = request.object["metadata"]["name"].AsString();
  if (name.empty()) name = request.object["metadata"]["generateName"].AsString();
  return std::unexpected(ForbiddenStatus(
      {std::string(request.info->group), std::string(request.resource)}, name, why));
}

}  // namespace keelson::admission
