#include "custom_resources.h"

#include "api/catalog.h"
#include "apiextensions/strategies.h"
#include "base/gate.h"

namespace keelson::app {
namespace {

apiextensions::DefinitionResources ResourcesOf(kube::BuiltInApi& api) {
  const auto find = [&](std::string_view subresource) -> const rest::ResourceSpec& {
    const auto* spec = api.Find(apiextensions::kGroup, apiextensions::kDefinitions, subresource);
    KEELSON_CHECK(spec != nullptr);
    return *spec;
  };
  return {find(""), find("status")};
}

}  // namespace

CustomResources::CustomResources()
    : routes_(std::make_shared<apiextensions::Routes>()),
      endpoint_(std::make_shared<apiextensions::CustomResourceEndpoint>(
          api::kCatalog, routes_, server::NotFoundEndpoint())),
      groups_(routes_),
      schemas_(routes_) {}

CustomResources::Connection::Connection(CustomResources& resources, Cluster& cluster,
                                        Storage& storage, auth::Authorizer& authorizer,
                                        Clock& clock, Executor& executor)
    : executor_(executor),
      definitions_(ResourcesOf(cluster.api()),
                   apiextensions::KindParts{.catalog = api::kCatalog,
                                            .store = storage.store(),
                                            .feed = storage.feed(),
                                            .clock = clock,
                                            .admission = &cluster.admission(),
                                            .authorizer = &authorizer,
                                            .form = cluster.api().stored_form(),
                                            .transformer =
                                                [&storage](const GroupResource& resource) {
                                                  return storage.TransformerFor(resource);
                                                }},
                   *resources.routes_, executor) {
  definitions_.Start();
}

CustomResources::Connection::~Connection() {
  Gate closing;
  closing.Spawn(&executor_, definitions_.Stop());
  closing.CloseAndWait();
}

}  // namespace keelson::app
