#pragma once

// Verbs as a small language: Create(body), Patch(name, type, body), each with its answer.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "rest/testing_resource.h"

namespace keelson::rest::testing {

inline constexpr std::string_view kJsonPatch = "application/json-patch+json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";
inline constexpr std::string_view kStrategicPatch = "application/strategic-merge-patch+json";
inline constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

struct Answer {
  int status;
  std::string body;
  value::Document json;
  value::Value operator[](std::string_view name) const { return json.root()[name]; }
  std::string message() const { return std::string(json.root()["message"].AsString()); }
  value::Value metadata() const { return json.root()["metadata"]; }
};

// One endpoint.
class Verbs {
 public:
  explicit Verbs(TestResource& resource) : Verbs(resource, resource.handler()) {}
  Verbs(TestResource& resource, const ResourceHandler& handler)
      : resource_(resource), handler_(handler) {}

  Answer Create(std::string_view body, std::string query = "", std::string name = "") {
    return Send(&ResourceHandler::Create, "POST", query, name, body);
  }
  Answer Get(std::string name) { return Send(&ResourceHandler::Get, "GET", "", name, ""); }
  Answer Update(std::string name, std::string_view body, std::string query = "") {
    return Send(&ResourceHandler::Update, "PUT", query, name, body);
  }
  Answer Patch(std::string name, std::string_view type, std::string_view body,
               std::string query = "") {
    return Send(&ResourceHandler::Patch, "PATCH", query, name, body, type);
  }
  Answer Apply(std::string name, std::string_view body, std::string query) {
    return Patch(std::move(name), kApplyPatch, body, std::move(query));
  }
  Answer Delete(std::string name, std::string_view body = "", std::string query = "") {
    return Send(&ResourceHandler::Delete, "DELETE", query, name, body);
  }
  Answer DeleteCollection(std::string query = "") {
    return Send(&ResourceHandler::DeleteCollection, "DELETE", query, "", "");
  }

 private:
  Answer Send(TestResource::Verb verb, std::string_view method, const std::string& query,
              const std::string& name, std::string_view body, std::string_view type = "") {
    http::FakeExchange fake(method, query.empty() ? "/x" : "/x?" + query);
    fake.AddHeader("user-agent", "tool/v1");
    if (!type.empty()) fake.AddHeader("content-type", type);
    if (!body.empty()) fake.Body(body);
    resource_.ServeAt(handler_, fake, verb, "n", name);
    EXPECT_TRUE(fake.finished());
    auto json = value::ParseJson(fake.body());
    return {fake.status(), fake.body(), json ? *json : value::Document()};
  }

  TestResource& resource_;
  const ResourceHandler& handler_;
};

}  // namespace keelson::rest::testing
