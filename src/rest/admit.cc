// The way from a write to the admission chain.

#include <utility>

#include "rest/write.h"

namespace keelson::rest {
namespace {

using admission::Operation;
using value::Document;

admission::Request RequestOf(const ResourceSpec& spec, const WriteScope& scope,
                             const value::Value* object, const value::Value* old) {
  const auto metadata = (*(object != nullptr ? object : old))["metadata"];
  const bool is_namespace = spec.info->group.empty() && spec.info->plural == "namespaces";
  const auto name = scope.name.empty() ? metadata["name"].AsString() : scope.name;
  return {.operation = object == nullptr ? Operation::kDelete
                       : old == nullptr  ? Operation::kCreate
                                         : Operation::kUpdate,
          .kind = spec.kind(),
          .resource = spec.info->plural,
          .info = spec.info,
          .subresource = scope.subresource,
          .ns = is_namespace ? name : scope.ns,
          .name = name,
          .user = scope.user,
          .dry_run = scope.dry_run,
          .type = &spec.type(),
          .object = object == nullptr ? value::Value() : *object,
          .old_object = old == nullptr ? value::Value() : *old,
          .warnings = scope.warnings};
}

const value::Value* RootOf(const Document* document) {
  return document == nullptr ? nullptr : &document->root();
}

}  // namespace

Task<ApiResult<void>> AdmitChange(const ResourceSpec& spec, const WriteScope& scope,
                                  value::Builder& object, const Document* old) {
  if (spec.admission == nullptr) co_return ApiResult<void>();
  const auto root = object.root().Get();
  auto request = RequestOf(spec, scope, &root, RootOf(old));
  if (!spec.admission->WantsToMutate(request)) co_return ApiResult<void>();
  co_return co_await spec.admission->Mutate(request, object.root());
}

Task<ApiResult<void>> AdmitResult(const ResourceSpec& spec, const WriteScope& scope,
                                  const Document* object, const Document* old) {
  if (spec.admission == nullptr) co_return ApiResult<void>();
  auto request = RequestOf(spec, scope, RootOf(object), RootOf(old));
  if (!spec.admission->WantsToValidate(request)) co_return ApiResult<void>();
  // Plugins judge what the endpoint shows.
  Document shown;
  Document shown_before;
  if (spec.projection != nullptr) {
    for (auto [from, to] : {std::pair(object, &shown), std::pair(old, &shown_before)}) {
      if (from == nullptr) continue;
      auto projected = spec.projection->Show(*from);
      if (!projected) co_return std::unexpected(std::move(projected).error());
      *to = *std::move(projected);
    }
    request.object = shown.root();
    request.old_object = shown_before.root();
  }
  co_return co_await spec.admission->Validate(request);
}

}  // namespace keelson::rest
