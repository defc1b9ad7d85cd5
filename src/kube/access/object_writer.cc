#include "kube/access/object_writer.h"

#include "rest/write.h"
#include "schema/transform.h"

namespace keelson::kube::access {
namespace {

using value::Builder;
using value::Document;

rest::WriteScope ScopeOf(const rest::ResourceSpec& spec, const ObjectKey& key) {
  return {
      .ns = key.ns, .name = key.name, .now = spec.clock->WallNow(), .manager = "kube-apiserver"};
}

// The server's own writes are not for admission to judge; when it starts, the namespaces they go to
// may not be there yet.
rest::ResourceSpec PastAdmission(const rest::ResourceSpec& spec) {
  auto own = spec;
  own.admission = nullptr;
  return own;
}

class Editing final : public rest::Mutation {
 public:
  explicit Editing(ObjectEdit& edit) : edit_(edit) {}
  ApiResult<Document> Mutate(const Document* live) override {
    Builder builder(*live);
    if (!edit_.Apply(builder.root())) return *live;
    return std::move(builder).Finish();
  }

 private:
  ObjectEdit& edit_;
};

}  // namespace

Task<ApiResult<void>> CreateObject(const rest::ResourceSpec& spec, ObjectKey key, Document object) {
  schema::ApplyDefaults(spec.type(), object, *spec.defaults);
  const auto scope = ScopeOf(spec, key);
  const auto own = PastAdmission(spec);
  auto written = co_await rest::CreateObject(own, scope, std::move(object));
  if (!written) co_return std::unexpected(std::move(written).error());
  co_return ApiResult<void>();
}

Task<ApiResult<void>> EditObject(const rest::ResourceSpec& spec, ObjectKey key, ObjectEdit& edit) {
  Editing editing(edit);
  const auto scope = ScopeOf(spec, key);
  const auto own = PastAdmission(spec);
  auto written = co_await rest::ChangeObject(own, scope, editing);
  if (!written) co_return std::unexpected(std::move(written).error());
  co_return ApiResult<void>();
}

}  // namespace keelson::kube::access
