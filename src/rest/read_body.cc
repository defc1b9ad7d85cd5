#include "rest/read_body.h"

#include <fmt/format.h>

#include <utility>

#include "rest/decode_body.h"
#include "rest/prepare.h"
#include "schema/transform.h"

namespace keelson::rest {

using value::Builder;
using value::Document;

ApiResult<std::string> TakeBody(Result<std::string> body) {
  if (body) return *std::move(body);
  if (body.error().code == ErrorCode::kTooLarge) return std::unexpected(BodyTooLargeStatus());
  return std::unexpected(BadRequestStatus(body.error().message));
}

Document Defaulted(const ResourceSpec& spec, const Document& object) {
  Document defaulted = object;
  schema::ApplyDefaults(spec.type(), defaulted, *spec.defaults);
  return defaulted;
}

void NameManager(const Request& request, WriteOptions& options) {
  if (!options.field_manager.empty()) return;
  options.field_manager =
      ManagerFromUserAgent(request.exchange.request.headers.Get("user-agent").value_or(""));
}

ApiResult<Document> InPlace(const ResourceSpec& spec, const WriteScope& scope,
                            const Document& object) {
  Builder builder(object);
  auto entered = EnterNamespace(spec, scope, builder.root().Field("metadata"));
  if (!entered) return std::unexpected(std::move(entered).error());
  const auto name = object.root()["metadata"]["name"].AsString();
  if (name == scope.name) return std::move(builder).Finish();
  return std::unexpected(BadRequestStatus(
      name.empty()
          ? fmt::format("the name of the object ({} based on URL) was undeterminable: name must be "
                        "provided",
                        scope.name)
          : fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                        scope.name)));
}

}  // namespace keelson::rest
