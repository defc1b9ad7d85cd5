#include "rest/subresource.h"

namespace keelson::rest {

Task<ApiResult<Reply>> Subresource::Create(const SubresourceCall& call, value::Document) const {
  co_return std::unexpected(MethodNotSupportedStatus(call.spec.group_resource(), "create"));
}

Task<void> Subresource::Connect(Request request, const ResourceSpec& spec) const {
  const auto status = MethodNotSupportedStatus(spec.group_resource(), "connect");
  request.response.headers().AddView("content-type", "application/json");
  std::vector<Slice> body;
  body.push_back(Slice::Own(status.ToJson() + "\n"));
  request.response.Send(status.code, std::move(body));
  co_return;
}

Reply SuccessReply() {
  return {.object = {}, .status = Status{.code = 201, .success = true}, .code = 201};
}

}  // namespace keelson::rest
