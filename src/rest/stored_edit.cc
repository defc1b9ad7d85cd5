#include "rest/stored_edit.h"

#include <utility>

#include "schema/transform.h"
#include "value/json.h"

namespace keelson::rest {

using storage::Change;

Task<ApiResult<Change>> StoredEdit::Decide(storage::ObjectRef current) {
  auto stored = value::ParseJson(current->json_view());
  if (!stored) co_return std::unexpected(InternalErrorStatus(stored.error().message));
  value::Builder builder(*stored);
  auto wanted = Edit(builder.root());
  if (!wanted) co_return std::unexpected(std::move(wanted).error());
  if (!*wanted || dry_run_) co_return Change{};
  builder.root().Field("metadata").RemoveField("resourceVersion");
  edited_ = std::move(builder).Finish();
  schema::Normalize(*info_.type, edited_);
  co_return Change{.kind = Change::Kind::kPut, .image = encoder_.Encode(edited_.root())};
}

}  // namespace keelson::rest
