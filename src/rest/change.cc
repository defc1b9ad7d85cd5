// Changing an object that is there, or may be created by the change: one decision, made inside the
// store's compare-and-swap loop as often as that asks.

#include <optional>
#include <utility>

#include "base/quote.h"
#include "rest/prepare.h"
#include "rest/prepare_new.h"
#include "rest/write.h"
#include "value/json.h"

namespace keelson::rest {
namespace {

using storage::Change;
using storage::ObjectRef;
using value::Builder;
using value::Document;

// An update that creates needs the permission to create.
Task<ApiResult<void>> AuthorizeCreate(const ResourceSpec& spec, const WriteScope& scope,
                                      auth::UserPtr user) {
  if (spec.authorizer == nullptr || user == nullptr) co_return ApiResult<void>();
  auth::Attributes attributes{.user = std::move(user),
                              .resource_request = true,
                              .verb = "create",
                              .group = spec.info->group,
                              .version = spec.info->version,
                              .ns = scope.ns,
                              .resource = spec.info->plural,
                              .subresource = scope.subresource,
                              .name = scope.name};
  auto verdict = spec.authorizer->TryAuthorize(attributes);
  if (!verdict) verdict = co_await spec.authorizer->Authorize(attributes);
  if (verdict->decision == auth::Decision::kAllow) co_return ApiResult<void>();
  co_return std::unexpected(
      ForbiddenStatus(spec.group_resource(), scope.name,
                      verdict->reason.empty() ? "no permission to create" : verdict->reason));
}

// The last finalizer of a dying object is gone: so is the object.
bool EndsLife(const ResourceSpec& spec, const value::Value& next, const value::Value& old) {
  const auto metadata = old["metadata"];
  return next["metadata"]["finalizers"].items().empty() &&
         !metadata["deletionTimestamp"].is_null() &&
         metadata["deletionGracePeriodSeconds"].AsInt() == 0 &&
         !spec.strategy->AwaitsFinalization(next);
}

class Changing final : public storage::Changer {
 public:
  Changing(const ResourceSpec& spec, const WriteScope& scope, Mutation& mutation,
           const ChangeRules& rules)
      : spec_(spec), scope_(scope), mutation_(mutation), rules_(rules) {}

  Task<ApiResult<Change>> Decide(ObjectRef current) override {
    prepared_ = {};
    Document stored;
    Document shown;
    if (current) {
      auto decoded = DecodeStored(spec_, *current);
      if (!decoded) co_return std::unexpected(InternalErrorStatus(decoded.error().message));
      stored = *std::move(decoded);
      auto projected = Live(stored);
      if (!projected) co_return std::unexpected(std::move(projected).error());
      shown = *std::move(projected);
    }
    const Document* live = current ? &shown : nullptr;
    auto mutated = mutation_.Mutate(live);
    if (!mutated) co_return std::unexpected(std::move(mutated).error());
    Builder next(*mutated);
    TrackOwners(live, next);
    auto admitted = co_await AdmitChange(spec_, scope_, next, live);
    if (!admitted) co_return std::unexpected(std::move(admitted).error());
    DropRepeatedOwners(scope_, next, /*after_admission=*/true);
    std::optional<Builder> converted;
    if (spec_.projection != nullptr) {
      auto put = spec_.projection->Put(next.Snapshot(), current ? &stored : nullptr);
      if (!put) co_return std::unexpected(std::move(put).error());
      converted.emplace(*put);
    }
    Builder& object = converted ? *converted : next;
    auto prepared = current ? co_await Update(object, stored) : co_await Create(object);
    if (!prepared) co_return std::unexpected(std::move(prepared).error());
    prepared_ = *std::move(prepared);
    created_ = !current;
    removed_ = current && EndsLife(spec_, prepared_.object.root(), stored.root());
    if (removed_) last_ = stored;
    if (scope_.dry_run) co_return Change{};
    if (removed_) co_return Change{.kind = Change::Kind::kRemove};
    co_return Change{.kind = Change::Kind::kPut,
                     .image = ImageOf(spec_, prepared_.object),
                     .ttl = spec_.strategy->TimeToLive()};
  }

  // What has been written, once it has.
  Task<Written> Finish(ObjectRef stored) {
    if (!scope_.dry_run && prepared_.reservation) prepared_.reservation->Commit();
    if (!scope_.dry_run && removed_) co_await spec_.strategy->AfterDelete(last_.root());
    // An object that ended with this write is answered as the write left it.
    const bool own = scope_.dry_run || removed_;
    co_return Written{.json = own ? value::ToJsonSlice(prepared_.object.root()) : stored->Json(),
                      .created = created_};
  }

 private:
  ApiResult<Document> Live(const Document& stored) const {
    if (spec_.projection == nullptr) return stored;
    return spec_.projection->Live(stored);
  }

  void TrackOwners(const Document* live, Builder& object) const {
    if (mutation_.tracks_owners()) return;
    const auto& ownership = *spec_.ownership;
    ownership.Update(live != nullptr ? *live : ownership.NewObject(), object, scope_.manager,
                     scope_.now);
  }

  Task<ApiResult<PreparedObject>> Create(Builder& object) const {
    auto allowed = co_await AuthorizeCreate(spec_, scope_, rules_.creator);
    if (!allowed) co_return std::unexpected(std::move(allowed).error());
    co_return co_await PrepareNew(spec_, scope_, object);
  }

  Task<ApiResult<PreparedObject>> Update(Builder& object, const Document& stored) const {
    auto begun = BeginUpdate(spec_, scope_, object, stored);
    if (!begun) co_return std::unexpected(std::move(begun).error());
    PreparedObject prepared;
    if (spec_.strategy->Reserves()) {
      const value::Value old = stored.root();
      auto reserved = co_await spec_.strategy->Reserve(scope_, object.root(), &old);
      if (!reserved) co_return std::unexpected(std::move(reserved).error());
      prepared.reservation = *std::move(reserved);
    }
    auto finished = FinishUpdate(spec_, scope_, object, stored);
    if (!finished) co_return std::unexpected(std::move(finished).error());
    prepared.object = patch::KeepTimesIfUnchanged(stored, *finished);
    auto admitted = co_await AdmitResult(spec_, scope_, &prepared.object, &stored);
    if (!admitted) co_return std::unexpected(std::move(admitted).error());
    co_return prepared;
  }

  const ResourceSpec& spec_;
  const WriteScope& scope_;
  Mutation& mutation_;
  const ChangeRules& rules_;
  PreparedObject prepared_;
  Document last_;
  bool created_ = false;
  bool removed_ = false;
};

}  // namespace

Task<ApiResult<Written>> ChangeObject(const ResourceSpec& spec, const WriteScope& scope,
                                      Mutation& mutation, ChangeRules rules) {
  Changing changing(spec, scope, mutation, rules);
  storage::ChangeOptions options{.preconditions = rules.preconditions,
                                 .may_create = rules.may_create};
  auto stored = co_await spec.store->Modify(std::string(scope.ns), std::string(scope.name),
                                            std::move(options), changing);
  if (!stored) co_return std::unexpected(std::move(stored).error());
  co_return co_await changing.Finish(*stored);
}

}  // namespace keelson::rest
