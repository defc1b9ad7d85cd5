// The verbs that store what a client sent: create and update. The body is decoded once.

#include <fmt/format.h>

#include <utility>

#include "rest/decode_body.h"
#include "rest/object_meta.h"
#include "rest/prepare.h"
#include "rest/read_body.h"
#include "rest/resource.h"
#include "rest/subresource.h"
#include "rest/write.h"
#include "schema/transform.h"
#include "value/json.h"
#include "value/yaml.h"

namespace keelson::rest {
namespace {

using value::Document;

// Replaces an object by what a client sent.
class Replacement final : public Mutation {
 public:
  explicit Replacement(Document object) : object_(std::move(object)) {}
  ApiResult<Document> Mutate(const Document*) override { return object_; }

 private:
  const Document object_;
};

// A body with an empty list of owners asks that ownership be forgotten; decoding has dropped the
// list, so it is put back.
Document WithOwnerReset(Format format, std::string_view body, Document object) {
  if (format == Format::kProtobuf || body.find("managedFields") == std::string_view::npos ||
      object.root()["metadata"].Find("managedFields") != nullptr) {
    return object;
  }
  auto raw = format == Format::kYaml ? value::ParseYaml(body) : value::ParseJson(body);
  if (!raw || !raw->root()["metadata"]["managedFields"].is_list()) return object;
  value::Builder builder(object);
  builder.root().Field("metadata").SetField("managedFields", value::Value::EmptyList());
  return std::move(builder).Finish();
}

}  // namespace

WriteScope ResourceHandler::ScopeOf(const Request& request, const WriteOptions& options) const {
  return {.ns = request.ns,
          .name = request.name,
          .subresource = request.subresource,
          .dry_run = options.is_dry_run(),
          .allow_privileged = spec_.allow_privileged,
          .now = spec_.clock->WallNow(),
          .user = request.user.get(),
          .manager = options.field_manager,
          .warnings = &request.warnings};
}

Task<ApiResult<Document>> ResourceHandler::ReadObject(Request request,
                                                      FieldValidation validation) const {
  auto format = NegotiateInput(request.exchange.request.headers.Get("content-type").value_or(""),
                               !spec_.custom);
  if (!format) co_return std::unexpected(format.error());
  auto body = TakeBody(co_await request.exchange.body->ReadAll(kMaxBodyBytes));
  if (!body) co_return std::unexpected(body.error());
  auto decoded =
      DecodeBody(*spec_.catalog, {spec_.kind(), &spec_.type()}, *format, *body, validation);
  if (!decoded) co_return std::unexpected(decoded.error());
  for (const auto& warning : decoded->warnings) request.warnings.Warn(warning);
  co_return WithOwnerReset(*format, *body, Defaulted(spec_, decoded->object));
}

Task<void> ResourceHandler::Create(Request request) const {
  auto media = Negotiate(request);
  if (!media) co_return Refuse(request, media.error());
  auto options = ReadCreateOptions(request.query);
  if (!options) co_return Refuse(request, options.error());
  NameManager(request, *options);
  auto object = co_await ReadObject(request, options->validation());
  if (!object) co_return Refuse(request, object.error());
  const auto scope = ScopeOf(request, *options);
  if (spec_.handler != nullptr) {
    co_return co_await Respond(request, *media, *options, scope, *std::move(object));
  }
  auto written = co_await CreateObject(spec_, scope, *std::move(object));
  if (!written) co_return Refuse(request, written.error());
  SendObject(request, 201, *media, written->json);
}

Task<void> ResourceHandler::Update(Request request) const {
  auto media = Negotiate(request);
  if (!media) co_return Refuse(request, media.error());
  auto options = ReadUpdateOptions(request.query);
  if (!options) co_return Refuse(request, options.error());
  NameManager(request, *options);
  auto object = co_await ReadObject(request, options->validation());
  if (!object) co_return Refuse(request, object.error());
  const auto scope = ScopeOf(request, *options);
  auto placed = InPlace(spec_, scope, *object);
  if (!placed) co_return Refuse(request, placed.error());
  if (placed->root()["metadata"]["ownerReferences"].size() > 1) {
    value::Builder builder(*placed);
    DropRepeatedOwners(scope, builder, /*after_admission=*/false);
    placed = std::move(builder).Finish();
  }
  ChangeRules rules{.may_create = spec_.strategy->AllowsCreateOnUpdate(), .creator = request.user};
  const auto uid = placed->root()["metadata"]["uid"].AsString();
  if (!uid.empty()) rules.preconditions.uid = std::string(uid);
  Replacement replacement(*std::move(placed));
  auto written = co_await ChangeObject(spec_, scope, replacement, std::move(rules));
  if (!written) co_return Refuse(request, written.error());
  SendObject(request, written->created ? 201 : 200, *media, written->json);
}

Task<void> ResourceHandler::Respond(Request request, OutputMedia media, WriteOptions options,
                                    WriteScope scope, Document object) const {
  value::Builder builder(object);
  value::Ref metadata = builder.root().Field("metadata");
  WipeSystemFields(metadata);
  if (auto entered = EnterNamespace(spec_, scope, metadata); !entered) {
    co_return Refuse(request, entered.error());
  }
  spec_.ownership->Update(spec_.ownership->NewObject(), builder, scope.manager, scope.now);
  auto admitted = co_await AdmitChange(spec_, scope, builder, nullptr);
  if (!admitted) co_return Refuse(request, admitted.error());
  object = std::move(builder).Finish();
  if (auto judged = co_await AdmitResult(spec_, scope, &object, nullptr); !judged) {
    co_return Refuse(request, judged.error());
  }
  const SubresourceCall call{.request = request, .spec = spec_, .scope = scope, .options = options};
  auto reply = co_await spec_.handler->Create(call, std::move(object));
  if (!reply) co_return Refuse(request, reply.error());
  if (reply->status) co_return Answer(request, reply->code, *reply->status);
  schema::Normalize(spec_.type(), reply->object);
  SendShown(request, reply->code, media, value::ToJsonSlice(reply->object.root()));
}

Task<void> ResourceHandler::Connect(Request request) const {
  co_await spec_.handler->Connect(request, spec_);
}

}  // namespace keelson::rest
