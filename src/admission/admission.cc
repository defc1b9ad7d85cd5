#include "admission/admission.h"

#include <algorithm>
#include <utility>

namespace keelson::admission {

std::string_view OperationName(Operation operation) {
  switch (operation) {
    case Operation::kCreate:
      return "CREATE";
    case Operation::kUpdate:
      return "UPDATE";
    case Operation::kDelete:
      return "DELETE";
    case Operation::kConnect:
      return "CONNECT";
  }
  return "";
}

Task<ApiResult<void>> Plugin::Mutate(const Request&, value::Ref) const {
  co_return ApiResult<void>();
}

Task<ApiResult<void>> Plugin::Validate(const Request&) const { co_return ApiResult<void>(); }

Chain::Chain(std::vector<std::unique_ptr<const Plugin>> plugins) : plugins_(std::move(plugins)) {}

bool Chain::WantsToMutate(const Request& request) const {
  return std::ranges::any_of(
      plugins_, [&](const auto& plugin) { return plugin->mutates() && plugin->Handles(request); });
}

bool Chain::WantsToValidate(const Request& request) const {
  return std::ranges::any_of(plugins_, [&](const auto& plugin) {
    return plugin->validates() && plugin->Handles(request);
  });
}

Task<ApiResult<void>> Chain::Mutate(Request& request, value::Ref object) const {
  for (const auto& plugin : plugins_) {
    if (!plugin->mutates() || !plugin->Handles(request)) continue;
    if (auto admitted = co_await plugin->Mutate(request, object); !admitted) {
      co_return std::unexpected(std::move(admitted).error());
    }
    request.object = object.Get();
  }
  co_return ApiResult<void>();
}

Task<ApiResult<void>> Chain::Validate(const Request& request) const {
  for (const auto& plugin : plugins_) {
    if (!plugin->validates() || !plugin->Handles(request)) continue;
    if (auto admitted = co_await plugin->Validate(request); !admitted) {
      co_return std::unexpected(std::move(admitted).error());
    }
  }
  co_return ApiResult<void>();
}

}  // namespace keelson::admission
