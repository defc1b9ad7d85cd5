#include "kube/access/object_writer.h"

#include "rest/prepare.h"
#include "schema/decode_json.h"
#include "schema/transform.h"
#include "storage/object_store.h"

namespace keelson::kube::access {
namespace {

using storage::Change;
using storage::ObjectRef;
using value::Builder;
using value::Document;

rest::WriteScope ScopeOf(const rest::ResourceSpec& spec, const ObjectKey& key) {
  return {.ns = key.ns, .name = key.name, .now = spec.clock->WallNow()};
}

class Editor final : public storage::Changer {
 public:
  Editor(const rest::ResourceSpec& spec, const ObjectKey& key, ObjectEdit& edit)
      : spec_(spec), key_(key), edit_(edit) {}

  Task<ApiResult<Change>> Decide(ObjectRef current) override { co_return DecideNow(*current); }

 private:
  ApiResult<Change> DecideNow(const storage::CachedObject& current) {
    auto stored = schema::DecodeJson(*spec_.info->type, current.json_view());
    if (!stored) return std::unexpected(InternalErrorStatus(stored.error().message));
    Builder builder(stored->object);
    if (!edit_.Apply(builder.root())) return Change{};
    Document edited = std::move(builder).Finish();
    auto next = rest::PrepareUpdate(spec_, ScopeOf(spec_, key_), edited, stored->object);
    if (!next) return std::unexpected(std::move(next).error());
    Builder versionless(*next);
    versionless.root().Field("metadata").RemoveField("resourceVersion");
    return Change{.kind = Change::Kind::kPut,
                  .image = spec_.encoder->Encode(std::move(versionless).Finish().root())};
  }

  const rest::ResourceSpec& spec_;
  const ObjectKey& key_;
  ObjectEdit& edit_;
};

}  // namespace

Task<ApiResult<void>> CreateObject(const rest::ResourceSpec& spec, ObjectKey key, Document object) {
  schema::ApplyDefaults(*spec.info->type, object, *spec.defaults);
  auto prepared = rest::PrepareCreate(spec, ScopeOf(spec, key), object);
  if (!prepared) co_return std::unexpected(std::move(prepared).error());
  auto stored = co_await spec.store->Create(spec.encoder->Encode(prepared->root()));
  if (!stored) co_return std::unexpected(std::move(stored).error());
  co_return ApiResult<void>();
}

Task<ApiResult<void>> EditObject(const rest::ResourceSpec& spec, ObjectKey key, ObjectEdit& edit) {
  Editor editor(spec, key, edit);
  auto stored = co_await spec.store->Modify(key.ns, key.name, {}, editor);
  if (!stored) co_return std::unexpected(std::move(stored).error());
  co_return ApiResult<void>();
}

}  // namespace keelson::kube::access
