// The verbs that delete: one object, or all that are selected.

#include <utility>

#include "rest/deletion.h"
#include "rest/resource.h"
#include "rest/write.h"
#include "value/json.h"

namespace keelson::rest {
namespace {

using storage::Change;
using storage::ObjectRef;
using value::Document;

// Removes an object, or marks it when something still has to happen first.
class Deletion final : public storage::Changer {
 public:
  Deletion(const ResourceSpec& spec, const WriteScope& scope, const DeleteOptions& options)
      : spec_(spec), scope_(scope), options_(options) {}

  Task<ApiResult<Change>> Decide(ObjectRef current) override {
    auto stored = DecodeStored(spec_, *current);
    if (!stored) co_return std::unexpected(InternalErrorStatus(stored.error().message));
    last_ = *std::move(stored);
    auto admitted = co_await AdmitResult(spec_, scope_, nullptr, &last_);
    if (!admitted) co_return std::unexpected(std::move(admitted).error());
    auto decision = DecideDeletion(spec_, scope_, options_, last_);
    if (!decision) co_return std::unexpected(std::move(decision).error());
    using Kind = DeletionDecision::Kind;
    removed_ = decision->kind == Kind::kRemove;
    last_write_ = decision->kind == Kind::kLast;
    const bool marked = last_write_ || decision->kind == Kind::kMark;
    json_ = marked ? value::ToJsonSlice(decision->object.root()) : current->Json();
    if (scope_.dry_run) co_return Change{};
    if (removed_) co_return Change{.kind = Change::Kind::kRemove};
    if (!marked) co_return Change{};
    co_return Change{.kind = Change::Kind::kPut, .image = ImageOf(spec_, decision->object)};
  }

  Task<ApiResult<Deleted>> Finish(ObjectRef stored) const {
    const bool removed = removed_ || last_write_;
    if (last_write_ && !scope_.dry_run) {
      auto gone = co_await spec_.store->Delete(std::string(scope_.ns), std::string(scope_.name),
                                               {.uid = std::string(stored->uid())});
      // Somebody else may have been faster.
      if (!gone && gone.error().code != 404) co_return std::unexpected(std::move(gone).error());
      if (gone) stored = *std::move(gone);
    }
    if (removed && !scope_.dry_run) co_await spec_.strategy->AfterDelete(last_.root());
    co_return Deleted{.json = scope_.dry_run ? json_ : stored->Json(),
                      .uid = std::string(stored->uid()),
                      .removed = removed};
  }

 private:
  const ResourceSpec& spec_;
  const WriteScope& scope_;
  const DeleteOptions& options_;
  Document last_;
  bool removed_ = false;
  bool last_write_ = false;  // what was stored is to be removed
  Slice json_;               // the object as it was decided to be, for answers to dry runs
};

}  // namespace

Task<ApiResult<Deleted>> DeleteObject(const ResourceSpec& spec, const WriteScope& scope,
                                      const DeleteOptions& options) {
  Deletion deletion(spec, scope, options);
  auto stored =
      co_await spec.store->Modify(std::string(scope.ns), std::string(scope.name), {}, deletion);
  if (!stored) co_return std::unexpected(std::move(stored).error());
  co_return co_await deletion.Finish(*stored);
}

Task<void> ResourceHandler::Delete(Request request) const {
  auto media = Negotiate(request);
  if (!media) co_return Refuse(request, media.error());
  auto options = co_await ReadDeleteRequest(request);
  if (!options) co_return Refuse(request, options.error());
  const auto scope = ScopeOf(request, {.dry_run = options->dry_run});
  auto deleted = co_await DeleteObject(spec_, scope, *options);
  if (!deleted) co_return Refuse(request, deleted.error());
  if (deleted->removed && !spec_.info->returns_deleted) {
    co_return Answer(request, 200, DeletedStatus(spec_, request.name, deleted->uid));
  }
  // Only clients of the deprecated option are told that the object is still there.
  const bool accepted = !deleted->removed && options->orphan_dependents == false;
  SendObject(request, accepted ? 202 : 200, *media, deleted->json);
}

// Deletes what a list shows, one by one; what is gone or being changed meanwhile is not an error.
Task<void> ResourceHandler::DeleteCollection(Request request) const {
  auto media = Negotiate(request, /*watch=*/true);
  if (!media) co_return Refuse(request, media.error());
  auto list_options = ReadListOptions(request.query);
  if (!list_options) co_return Refuse(request, list_options.error());
  auto options = co_await ReadDeleteRequest(request);
  if (!options) co_return Refuse(request, options.error());
  auto selected = StorageOptions(request, *list_options);
  if (!selected) co_return Refuse(request, selected.error());
  auto list = co_await spec_.store->List(*std::move(selected));
  if (!list) co_return Refuse(request, list.error());
  auto scope = ScopeOf(request, {.dry_run = options->dry_run});
  for (const auto& object : list->objects) {
    scope.ns = object->ns();
    scope.name = object->name();
    auto deleted = co_await DeleteObject(spec_, scope, *options);
    if (!deleted && deleted.error().code != 404) co_return Refuse(request, deleted.error());
  }
  co_await SendList(request, *media, *std::move(list));
}

}  // namespace keelson::rest
