// The options of a delete, from its body or its URL.

#include <utility>

#include "base/quote.h"
#include "rest/decode_body.h"
#include "rest/read_body.h"
#include "rest/resource.h"
#include "schema/decode_json.h"
#include "schema/protobuf.h"
#include "value/json.h"
#include "value/yaml.h"

namespace keelson::rest {
namespace {

using value::Document;

// Where upstream declares the kinds that options may have; its refusals say so.
constexpr std::string_view kOptionsScheme =
    "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27";

// The options of a delete as its body holds them.
Result<Document> ReadOptionsObject(const schema::Type& type, Format format, std::string_view body) {
  if (format == Format::kYaml) return value::ParseYaml(body);
  if (format == Format::kProtobuf) {
    return schema::DecodeProtobufEnvelope(type, body);
  }
  auto meta = schema::ReadTypeMeta(body);
  if (!meta) {
    return Fail(ErrorCode::kInvalid, "couldn't get version/kind; json parse error: {}",
                meta.error().message);
  }
  if (!meta->kind.empty() && meta->kind != "DeleteOptions") {
    return Fail(ErrorCode::kInvalid, "no kind {} is registered for version {} in scheme {}",
                Quote(meta->kind), Quote(meta->api_version), Quote(kOptionsScheme));
  }
  return value::ParseJson(body);
}

DeleteOptions DeleteOptionsFrom(const value::Value& object) {
  DeleteOptions options;
  if (auto grace = object["gracePeriodSeconds"]; grace.is_int()) {
    options.grace_period_seconds = grace.AsInt();
  }
  if (auto orphan = object["orphanDependents"]; orphan.is_bool()) {
    options.orphan_dependents = orphan.AsBool();
  }
  if (auto policy = object["propagationPolicy"]; policy.is_string()) {
    options.propagation_policy = std::string(policy.AsString());
  }
  for (const auto& item : object["dryRun"].items()) options.dry_run.emplace_back(item.AsString());
  if (auto given = object["preconditions"]; given.is_object()) {
    auto& preconditions = options.preconditions.emplace();
    if (given["uid"].is_string()) preconditions.uid = std::string(given["uid"].AsString());
    if (given["resourceVersion"].is_string()) {
      preconditions.resource_version = std::string(given["resourceVersion"].AsString());
    }
  }
  return options;
}

}  // namespace

ApiResult<DeleteOptions> ResourceHandler::DecodeDeleteOptions(const Request& request,
                                                              std::string_view body) const {
  auto format = NegotiateInput(request.exchange.request.headers.Get("content-type").value_or(""));
  if (!format) return std::unexpected(format.error());
  // Any group's version of the options is the same; what is wrong with them is said without
  // naming what was expected.
  auto object = ReadOptionsObject(*delete_options_type_, *format, body);
  if (!object) return std::unexpected(BadRequestStatus(object.error().message));
  auto options = DeleteOptionsFrom(object->root());
  if (auto checked = CheckDeleteOptions(options); !checked) {
    return std::unexpected(checked.error());
  }
  return options;
}

Task<ApiResult<DeleteOptions>> ResourceHandler::ReadDeleteRequest(Request request) const {
  auto options = ReadDeleteOptions(request.query);
  if (!options) co_return options;
  auto body = TakeBody(co_await request.exchange.body->ReadAll(kMaxBodyBytes));
  if (!body) co_return std::unexpected(std::move(body).error());
  if (body->empty()) co_return options;
  co_return DecodeDeleteOptions(request, *body);
}

}  // namespace keelson::rest
