// The verbs that write. Each decodes the body once; what depends on the stored object is decided
// inside the store's compare-and-swap loop, as often as that asks.

#include <fmt/format.h>

#include <utility>

#include "base/quote.h"
#include "rest/decode_body.h"
#include "rest/deletion.h"
#include "rest/object_meta.h"
#include "rest/prepare.h"
#include "rest/resource.h"
#include "schema/decode_json.h"
#include "schema/protobuf.h"
#include "schema/transform.h"
#include "value/json.h"
#include "value/yaml.h"

namespace keelson::rest {
namespace {

using storage::Change;
using storage::ObjectRef;
using value::Document;

// Where upstream declares the kinds that options may have; its refusals say so.
constexpr std::string_view kOptionsScheme =
    "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27";

// How often a generated name may turn out to be taken.
constexpr int kNameAttempts = 8;

ApiResult<std::string> TakeBody(Result<std::string> body) {
  if (body) return *std::move(body);
  if (body.error().code == ErrorCode::kTooLarge) return std::unexpected(BodyTooLargeStatus());
  return std::unexpected(BadRequestStatus(body.error().message));
}

Result<Document> DecodeStored(const ResourceSpec& spec, const storage::CachedObject& stored) {
  TRY(auto decoded, schema::DecodeJson(*spec.info->type, stored.json_view()));
  return decoded.object;
}

// The object without its version: what is stored.
storage::ObjectImage ImageOf(const ResourceSpec& spec, const Document& object) {
  if (object.root()["metadata"].Find("resourceVersion") == nullptr) {
    return spec.encoder->Encode(object.root());
  }
  value::Builder builder(object);
  builder.root().Field("metadata").RemoveField("resourceVersion");
  return spec.encoder->Encode(std::move(builder).Finish().root());
}

// Replaces an object by what a client sent, or creates it where the kind allows that.
class Replacement final : public storage::Changer {
 public:
  Replacement(const ResourceSpec& spec, const WriteScope& scope, Document object)
      : spec_(spec), scope_(scope), object_(std::move(object)) {}

  Task<ApiResult<Change>> Decide(ObjectRef current) override { co_return DecideNow(current); }
  bool created() const { return created_; }
  // The last decision, for answers to dry runs.
  const Slice& json() const { return json_; }

 private:
  ApiResult<Change> DecideNow(const ObjectRef& current) {
    created_ = !current;
    auto next = created_ ? PrepareCreate(spec_, scope_, object_) : Update(*current);
    if (!next) return std::unexpected(std::move(next).error());
    json_ = value::ToJsonSlice(next->root());
    if (scope_.dry_run) return Change{};
    Change change{.kind = Change::Kind::kPut, .image = ImageOf(spec_, *next)};
    // The last finalizer of a dying object is gone: so is the object.
    const auto metadata = next->root()["metadata"];
    if (!created_ && !metadata["deletionTimestamp"].is_null() &&
        metadata["finalizers"].items().empty() &&
        metadata["deletionGracePeriodSeconds"].AsInt() == 0) {
      change.kind = Change::Kind::kRemove;
    }
    return change;
  }

  ApiResult<Document> Update(const storage::CachedObject& current) {
    auto old = DecodeStored(spec_, current);
    if (!old) return std::unexpected(InternalErrorStatus(old.error().message));
    return PrepareUpdate(spec_, scope_, object_, *old);
  }

  const ResourceSpec& spec_;
  const WriteScope& scope_;
  const Document object_;
  bool created_ = false;
  Slice json_;
};

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

// Removes an object, or marks it when something still has to happen first.
class Deletion final : public storage::Changer {
 public:
  Deletion(const ResourceSpec& spec, const WriteScope& scope, const DeleteOptions& options)
      : spec_(spec), scope_(scope), options_(options) {}

  Task<ApiResult<Change>> Decide(ObjectRef current) override { co_return DecideNow(*current); }
  bool removed() const { return removed_; }
  // The object as it was decided to be, for answers to dry runs.
  const Slice& json() const { return json_; }

 private:
  ApiResult<Change> DecideNow(const storage::CachedObject& current) {
    auto stored = DecodeStored(spec_, current);
    if (!stored) return std::unexpected(InternalErrorStatus(stored.error().message));
    auto decision = DecideDeletion(spec_, scope_, options_, *stored);
    if (!decision) return std::unexpected(std::move(decision).error());
    Change change;
    removed_ = decision->kind == DeletionDecision::Kind::kRemove;
    if (removed_) {
      change.kind = Change::Kind::kRemove;
      json_ = current.Json();
    } else if (decision->kind == DeletionDecision::Kind::kMark) {
      change = {.kind = Change::Kind::kPut, .image = ImageOf(spec_, decision->object)};
      json_ = value::ToJsonSlice(decision->object.root());
    } else {
      json_ = current.Json();
    }
    if (scope_.dry_run) change = {};
    return change;
  }

  const ResourceSpec& spec_;
  const WriteScope& scope_;
  const DeleteOptions& options_;
  bool removed_ = false;
  Slice json_;
};

}  // namespace

WriteScope ResourceHandler::ScopeOf(const Request& request, bool dry_run) const {
  return {.ns = request.ns,
          .name = request.name,
          .subresource = request.subresource,
          .dry_run = dry_run,
          .now = spec_.clock->WallNow()};
}

Task<ApiResult<Document>> ResourceHandler::ReadObject(Request request,
                                                      FieldValidation validation) const {
  auto format = NegotiateInput(request.exchange.request.headers.Get("content-type").value_or(""),
                               !spec_.custom);
  if (!format) co_return std::unexpected(format.error());
  auto body = TakeBody(co_await request.exchange.body->ReadAll(kMaxBodyBytes));
  if (!body) co_return std::unexpected(body.error());
  const ExpectedBody expected{{spec_.info->group, spec_.info->version, spec_.info->kind},
                              spec_.info->type};
  auto decoded = DecodeBody(*spec_.catalog, expected, *format, *body, validation);
  if (!decoded) co_return std::unexpected(decoded.error());
  for (const auto& warning : decoded->warnings) request.warnings.Warn(warning);
  schema::ApplyDefaults(*spec_.info->type, decoded->object, *spec_.defaults);
  value::Builder builder(decoded->object);
  spec_.strategy->Default(builder.root());
  co_return std::move(builder).Finish();
}

Task<void> ResourceHandler::Create(Request request) const {
  auto media = Negotiate(request);
  if (!media) co_return Refuse(request, media.error());
  auto options = ReadCreateOptions(request.query);
  if (!options) co_return Refuse(request, options.error());
  auto object = co_await ReadObject(request, options->validation());
  if (!object) co_return Refuse(request, object.error());
  const auto scope = ScopeOf(request, options->is_dry_run());

  for (int attempt = 1;; ++attempt) {
    auto prepared = PrepareCreate(spec_, scope, *object);
    if (!prepared) co_return Refuse(request, prepared.error());
    auto image = ImageOf(spec_, *prepared);
    const std::string name(prepared->root()["metadata"]["name"].AsString());
    if (scope.dry_run) co_return co_await AnswerDryCreate(request, *media, name, image.json);
    auto stored = co_await spec_.store->Create(std::move(image));
    if (stored) co_return SendObject(request, 201, *media, (*stored)->Json());
    const bool generated = object->root()["metadata"]["name"].AsString().empty();
    const bool taken = stored.error().reason == "AlreadyExists";
    if (!generated || !taken || attempt == kNameAttempts) co_return Refuse(request, stored.error());
  }
}

Task<void> ResourceHandler::AnswerDryCreate(Request request, OutputMedia media, std::string name,
                                            Slice json) const {
  auto there = co_await spec_.store->Get(std::string(request.ns), name);
  if (there) co_return Refuse(request, AlreadyExistsStatus(spec_.group_resource(), name));
  SendObject(request, 201, media, json);
}

Task<void> ResourceHandler::Update(Request request) const {
  auto media = Negotiate(request);
  if (!media) co_return Refuse(request, media.error());
  auto options = ReadUpdateOptions(request.query);
  if (!options) co_return Refuse(request, options.error());
  auto object = co_await ReadObject(request, options->validation());
  if (!object) co_return Refuse(request, object.error());
  const auto name = object->root()["metadata"]["name"].AsString();
  if (name != request.name) {
    co_return Refuse(
        request,
        BadRequestStatus(
            name.empty()
                ? fmt::format("the name of the object ({} based on URL) was undeterminable: name "
                              "must be provided",
                              request.name)
                : fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                              name, request.name)));
  }
  const auto scope = ScopeOf(request, options->is_dry_run());
  storage::ChangeOptions change{.may_create = spec_.strategy->AllowsCreateOnUpdate()};
  const auto uid = object->root()["metadata"]["uid"].AsString();
  if (!uid.empty()) change.preconditions.uid = std::string(uid);
  Replacement replacement(spec_, scope, *object);
  auto stored = co_await spec_.store->Modify(std::string(request.ns), std::string(request.name),
                                             std::move(change), replacement);
  if (!stored) co_return Refuse(request, stored.error());
  SendObject(request, replacement.created() ? 201 : 200, *media,
             scope.dry_run ? replacement.json() : (*stored)->Json());
}

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

Task<void> ResourceHandler::Delete(Request request) const {
  auto media = Negotiate(request);
  if (!media) co_return Refuse(request, media.error());
  auto options = ReadDeleteOptions(request.query);
  if (!options) co_return Refuse(request, options.error());
  auto body = TakeBody(co_await request.exchange.body->ReadAll(kMaxBodyBytes));
  if (!body) co_return Refuse(request, body.error());
  if (!body->empty()) {
    options = DecodeDeleteOptions(request, *body);
    if (!options) co_return Refuse(request, options.error());
  }
  const auto scope = ScopeOf(request, options->is_dry_run());
  Deletion deletion(spec_, scope, *options);
  auto stored = co_await spec_.store->Modify(std::string(request.ns), std::string(request.name), {},
                                             deletion);
  if (!stored) co_return Refuse(request, stored.error());
  if (deletion.removed() && !spec_.strategy->ReturnsDeletedObject()) {
    co_return Answer(request, 200, DeletedStatus(spec_, request.name, (*stored)->uid()));
  }
  SendObject(request, 200, *media, scope.dry_run ? deletion.json() : (*stored)->Json());
}

}  // namespace keelson::rest
