#pragma once

// A store with CustomResourceDefinitions and whatever they define, driven by hand.
//
//   Cluster cluster;
//   cluster.Define(Definition("gadgets", "Gadget", schema));
//   cluster.Send("gadgets", "v1", "", &ResourceHandler::Create, "", body);

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "apiextensions/definitions.h"
#include "apiextensions/routes.h"
#include "apiextensions/strategies.h"
#include "rest/status_strategy.h"
#include "rest/testing_resource.h"
#include "rest/testing_verbs.h"

namespace keelson::apiextensions::testing {

using rest::ResourceHandler;
using rest::testing::Answer;
using rest::testing::TestResource;

// One version, stored, in the group x.io, for the whole cluster.
inline std::string Definition(std::string_view plural, std::string_view kind,
                              std::string_view schema, std::string_view more_of_version = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}.x.io"}},"spec":{{"group":"x.io","scope":"Cluster","names":)"
      R"({{"plural":"{0}","singular":"{0}1","kind":"{1}","listKind":"{1}List"}},"conversion":)"
      R"({{"strategy":"None"}},"versions":[{{"name":"v1","served":true,"storage":true,"schema":)"
      R"({{"openAPIV3Schema":{2}}}{3}}}]}}}})",
      plural, kind, schema, more_of_version);
}

class Cluster {
 public:
  Cluster() { Start(); }
  ~Cluster() { Stop(); }

  // Follows the definitions, as a server does that has just been started.
  void Start() {
    control_ = std::make_unique<Definitions>(DefinitionResources{definitions_.spec(), status_},
                                             KindParts{.catalog = api::kCatalog,
                                                       .store = definitions_.store(),
                                                       .feed = definitions_.feed(),
                                                       .clock = definitions_.clock()},
                                             routes_, definitions_.executor());
    control_->Start();
    definitions_.executor().RunUntilIdle();
  }
  void Stop() {
    definitions_.Run(control_->Stop());
    control_.reset();
    definitions_.executor().RunUntilIdle();
  }

  Answer Define(std::string_view json) { return Call(&ResourceHandler::Create, "", json); }
  Answer GetDefinition(const std::string& name) { return Call(&ResourceHandler::Get, name); }
  Answer ChangeDefinition(const std::string& name, std::string_view patch) {
    return Call(&ResourceHandler::Patch, name, patch, rest::testing::kMergePatch);
  }
  Answer DeleteDefinition(const std::string& name) { return Call(&ResourceHandler::Delete, name); }

  // A request on a custom resource; status 0 when it is not served.
  Answer Send(std::string_view plural, std::string_view version, std::string_view subresource,
              TestResource::Verb verb, std::string name, std::string_view body = "",
              std::string_view type = "", std::string_view query = "",
              std::string_view accept = "") {
    const auto table = routes_.table();
    const auto* kind = table->Find("x.io", plural);
    if (kind == nullptr) return {0, "", {}};
    auto handler = (*kind)->Find(version, subresource);
    if (!handler || *handler == nullptr) return {0, "", {}};
    return CallAt(**handler, verb, std::move(name), body, type, query, accept);
  }
  Answer Create(std::string_view plural, std::string_view body) {
    return Send(plural, "v1", "", &ResourceHandler::Create, "", body);
  }
  Answer Get(std::string_view plural, const std::string& name) {
    return Send(plural, "v1", "", &ResourceHandler::Get, name);
  }
  Answer Merge(std::string_view plural, const std::string& name, std::string_view patch,
               std::string_view subresource = "") {
    return Send(plural, "v1", subresource, &ResourceHandler::Patch, name, patch,
                rest::testing::kMergePatch);
  }

  Routes& routes() { return routes_; }
  TestResource& definitions() { return definitions_; }
  void Settle() { definitions_.executor().RunUntilIdle(); }

 private:
  static const rest::Strategy& Strategy() { return *Strategies().front().strategy; }

  rest::ResourceSpec StatusSpec() {
    auto spec = definitions_.spec();
    spec.ownership = nullptr;
    for (const auto& subresource : spec.info->subresources) {
      if (subresource.name == "status") spec.subresource = &subresource;
    }
    spec.strategy = &status_strategy_;
    return rest::Completed(std::move(spec));
  }

  Answer Call(TestResource::Verb verb, std::string name, std::string_view body = "",
              std::string_view type = "") {
    return CallAt(definitions_.handler(), verb, std::move(name), body, type, "", "");
  }
  Answer CallAt(const ResourceHandler& handler, TestResource::Verb verb, std::string name,
                std::string_view body, std::string_view type, std::string_view query,
                std::string_view accept) {
    http::FakeExchange fake("GET", query.empty() ? "/x" : fmt::format("/x?{}", query));
    fake.AddHeader("user-agent", "tool/v1");
    if (!accept.empty()) fake.AddHeader("accept", accept);
    if (!type.empty()) fake.AddHeader("content-type", type);
    if (!body.empty()) fake.Body(body);
    definitions_.ServeAt(handler, fake, verb, "", std::move(name));
    EXPECT_TRUE(fake.finished());
    auto json = value::ParseJson(fake.body());
    return {fake.status(), fake.body(), json ? *json : value::Document()};
  }

  TestResource definitions_{kGroup, "v1", kDefinitions, Strategy()};
  const rest::StatusStrategy status_strategy_{Strategy(), *definitions_.spec().info};
  const rest::ResourceSpec status_ = StatusSpec();
  Routes routes_;
  std::unique_ptr<Definitions> control_;
};

}  // namespace keelson::apiextensions::testing
