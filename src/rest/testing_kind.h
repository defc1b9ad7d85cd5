#pragma once

// For tests of what is special about a kind: objects from JSON, defaulted and prepared as a write
// would, and what is wrong with them as text.
//
//   KindTester deployments(Deployment::Schema(), {{workload::Defaults()}}, strategy);
//   EXPECT_THAT(deployments.Create(R"({"spec":{}})"), ElementsAre("spec.selector: Required
//   value"));

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rest/kind_table.h"
#include "rest/strategy.h"
#include "schema/decode_json.h"
#include "schema/field_error.h"
#include "schema/transform.h"
#include "value/document.h"
#include "value/json.h"

namespace keelson::rest {

class KindTester {
 public:
  KindTester(const schema::Type& type, schema::DefaultHooks defaults,
             const rest::Strategy& strategy)
      : type_(type), defaults_(std::move(defaults)), strategy_(strategy) {}

  // The object as a client's request becomes it, before it is prepared.
  value::Document Defaulted(std::string_view json) const {
    auto decoded = schema::DecodeJson(type_, json);
    EXPECT_TRUE(decoded.has_value()) << json;
    value::Document object = decoded->object;
    schema::ApplyDefaults(type_, object, defaults_);
    return object;
  }

  // The object as it would be stored, in JSON.
  std::string Prepared(std::string_view json) const {
    return value::ToJson(PrepareCreate(Defaulted(json)).root());
  }

  std::vector<std::string> Create(std::string_view json) const {
    const auto object = PrepareCreate(Defaulted(json));
    schema::FieldErrors errors;
    strategy_.Validate({}, object.root(), errors);
    return Texts(errors);
  }

  // A change from one object to another, both as clients would send them.
  std::vector<std::string> Update(std::string_view from, std::string_view to,
                                  std::string_view subresource = "") const {
    const auto old = PrepareCreate(Defaulted(from));
    value::Builder builder(Defaulted(to));
    builder.Adopt(old);
    const rest::WriteScope scope{.subresource = subresource};
    strategy_.PrepareForUpdate(scope, builder.root(), old.root());
    const auto object = Finish(builder);
    schema::FieldErrors errors;
    strategy_.ValidateUpdate(scope, object.root(), old.root(), errors);
    return Texts(errors);
  }

  std::vector<std::string> Warnings(std::string_view json) const {
    return strategy_.Warnings({}, PrepareCreate(Defaulted(json)).root(), nullptr);
  }

 private:
  value::Document PrepareCreate(const value::Document& object) const {
    value::Builder builder(object);
    strategy_.PrepareForCreate({}, builder.root());
    return Finish(builder);
  }
  value::Document Finish(value::Builder& builder) const {
    value::Document object = std::move(builder).Finish();
    schema::Normalize(type_, object);
    return object;
  }
  static std::vector<std::string> Texts(const schema::FieldErrors& errors) {
    std::vector<std::string> texts;
    for (const auto& error : errors) texts.push_back(error.ToString());
    return texts;
  }

  const schema::Type& type_;
  schema::DefaultHooks defaults_;
  const rest::Strategy& strategy_;
};

// The strategy that a folder contributes for a resource.
inline const rest::Strategy& StrategyOf(std::span<const rest::KindStrategy> strategies,
                                        std::string_view resource) {
  for (const auto& entry : strategies) {
    if (entry.resource == resource) return *entry.strategy;
  }
  ADD_FAILURE() << "no strategy for " << resource;
  return *strategies.front().strategy;
}

}  // namespace keelson::rest
