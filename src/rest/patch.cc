// The patch verb: what a client's patch makes of an object, in the endpoint's version.
//
// A patched object is written as JSON and decoded by its type, as upstream does: that brings back
// the canonical form, refuses what does not fit, and finds unknown fields.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "patch/go_text.h"
#include "patch/json_patch.h"
#include "patch/merge_patch.h"
#include "patch/strategic_merge.h"
#include "rest/decode_body.h"
#include "rest/read_body.h"
#include "rest/resource.h"
#include "rest/restore_error.h"
#include "rest/write.h"
#include "schema/decode_json.h"
#include "value/json.h"
#include "value/yaml.h"

namespace keelson::rest {
namespace {

using value::Document;

// A patch as it was sent, read but not yet applied.
struct PatchRequest {
  PatchType type = PatchType::kMergePatch;
  Document document;
  std::vector<std::string> strict_errors;  // fields that are there twice
  FieldValidation validation = FieldValidation::kWarn;
};

Status DecodeFailure(PatchType type, std::string_view message) {
  switch (type) {
    case PatchType::kStrategicMergePatch:
      return BadRequestStatus(std::string(message));
    case PatchType::kApply:
      return BadRequestStatus(fmt::format("error decoding YAML: {}", message));
    default:
      return BadRequestStatus(fmt::format("error decoding patch: {}", message));
  }
}

ApiResult<PatchRequest> ReadPatch(PatchType type, std::string_view body,
                                  FieldValidation validation) {
  PatchRequest patch{.type = type, .validation = validation};
  auto* duplicates = validation == FieldValidation::kIgnore ? nullptr : &patch.strict_errors;
  auto document = type == PatchType::kApply ? value::ParseYaml(body, {.duplicates = duplicates})
                                            : value::ParseJson(body, {.strict_errors = duplicates});
  if (!document) {
    const std::string_view step =
        type == PatchType::kApply ? "error converting YAML to JSON: " : "";
    return std::unexpected(
        DecodeFailure(type, fmt::format("{}{}", step, document.error().message)));
  }
  patch.document = *std::move(document);
  return patch;
}

// The members of the outermost object by name, as upstream prints what it patched.
std::string SortedJson(const value::Value& object) {
  std::vector<value::Member> members(object.members().begin(), object.members().end());
  std::ranges::sort(members, {}, [](const value::Member& member) { return member.key(); });
  return value::ToJson(value::Value::Object(members));
}

class PatchMutation : public Mutation {
 public:
  PatchMutation(const ResourceSpec& spec, const WriteScope& scope, PatchRequest patch)
      : spec_(spec), scope_(scope), patch_(std::move(patch)) {}

  ApiResult<Document> Mutate(const Document* live) final {
    auto patched = live != nullptr ? Apply(*live) : Create();
    if (!patched) return patched;
    const auto uid = patched->root()["metadata"]["uid"].AsString();
    if (live == nullptr && !uid.empty()) {
      return std::unexpected(ConflictStatus(
          spec_.group_resource(), scope_.name,
          fmt::format("uid mismatch: the provided object specified uid {}, and no existing object "
                      "was found",
                      uid)));
    }
    return InPlace(spec_, scope_, *patched);
  }

 protected:
  virtual ApiResult<Document> Apply(const Document& live) = 0;
  virtual ApiResult<Document> Create() {
    return std::unexpected(NotFoundStatus(spec_.group_resource(), scope_.name));
  }

  // The kind that the patch left the object with.
  std::optional<std::string> Misfit(const value::Value& patched) const {
    if (spec_.custom) return std::nullopt;  // for validation to say
    return KindMisfit(*spec_.catalog,
                      KindOf(patched["apiVersion"].AsString(), patched["kind"].AsString()),
                      spec_.kind());
  }
  // The decoded object with all defaults. An empty list of owners asks for a reset, so it must
  // survive decoding, which drops empty lists.
  Document Finished(const Document& decoded, const value::Value& patched) const {
    Document object = Defaulted(spec_, decoded);
    const auto* owners = patched["metadata"].Find("managedFields");
    if (owners == nullptr || !owners->is_list() || owners->size() != 0) return object;
    value::Builder builder(object);
    builder.root().Field("metadata").SetField("managedFields", value::Value::EmptyList());
    return std::move(builder).Finish();
  }

  bool strict() const { return patch_.validation != FieldValidation::kIgnore; }
  // What strict decoding found goes to the client as warnings or, as `subject` being wrong, as the
  // answer.
  ApiResult<void> Report(std::vector<std::string> errors, std::string_view subject) const {
    if (errors.empty() || patch_.validation == FieldValidation::kIgnore) return {};
    if (patch_.validation == FieldValidation::kStrict) {
      return std::unexpected(
          InvalidPatch(subject, fmt::format("strict decoding error: {}", fmt::join(errors, ", "))));
    }
    for (const auto& error : errors) scope_.Warn(error);
    return {};
  }
  static Status InvalidPatch(std::string_view subject, std::string why) {
    return schema::InvalidStatus("", "", "",
                                 {schema::Invalid(value::Path("patch"), subject, std::move(why))});
  }

  const ResourceSpec& spec_;
  const WriteScope& scope_;
  const PatchRequest patch_;
};

// JSON patch and merge patch.
class JsonMutation final : public PatchMutation {
 public:
  using PatchMutation::PatchMutation;

 private:
  ApiResult<Document> Apply(const Document& live) override {
    auto errors = patch_.strict_errors;
    auto patched = ApplyByType(live, errors);
    if (!patched) return patched;
    if (auto misfit = Misfit(patched->root())) {
      return std::unexpected(InvalidPatch(SortedJson(patched->root()), *std::move(misfit)));
    }
    const auto text = value::ToJson(patched->root());
    auto decoded = schema::DecodeJson(spec_.type(), text, {.strict = strict()});
    if (!decoded) {
      return std::unexpected(InvalidPatch(SortedJson(patched->root()), decoded.error().message));
    }
    std::ranges::move(decoded->strict_errors, std::back_inserter(errors));
    if (!errors.empty()) {
      if (auto ok = Report(std::move(errors), SortedJson(patched->root())); !ok) {
        return std::unexpected(std::move(ok).error());
      }
    }
    return Finished(decoded->object, patched->root());
  }

  ApiResult<Document> ApplyByType(const Document& live, std::vector<std::string>& errors) const {
    if (patch_.type == PatchType::kMergePatch) {
      return patch::ApplyMergePatch(live, patch_.document);
    }
    auto operations = patch::DecodeJsonPatch(patch_.document);
    if (!operations) return std::unexpected(std::move(operations).error());
    for (auto& error : errors) error = "json patch " + error;
    std::ranges::copy(operations->strict_errors, std::back_inserter(errors));
    return patch::ApplyJsonPatch(live, *operations, patch_.document);
  }
};

class StrategicMutation final : public PatchMutation {
 public:
  using PatchMutation::PatchMutation;

 private:
  ApiResult<Document> Apply(const Document& live) override {
    const auto& patch = patch_.document.root();
    if (!patch.is_object() && !patch.is_null()) {
      return std::unexpected(BadRequestStatus(
          fmt::format("json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                      patch::JsonKindText(patch))));
    }
    auto patched = patch::ApplyStrategicMergePatch(live, patch_.document, spec_.type());
    if (!patched) return patched;
    if (auto misfit = RestoreError(spec_.type(), patched->root())) {
      return std::unexpected(InvalidPatch(patch::GoPlain(patch), *std::move(misfit)));
    }
    auto decoded =
        schema::DecodeJson(spec_.type(), value::ToJson(patched->root()), {.strict = strict()});
    if (!decoded) {
      return std::unexpected(InvalidPatch(patch::GoPlain(patch), decoded.error().message));
    }
    auto errors = patch_.strict_errors;
    std::ranges::move(decoded->strict_errors, std::back_inserter(errors));
    if (auto ok = Report(std::move(errors), patch::GoPlain(patch)); !ok) {
      return std::unexpected(std::move(ok).error());
    }
    return Finished(decoded->object, patched->root());
  }
};

class ApplyMutation final : public PatchMutation {
 public:
  ApplyMutation(const ResourceSpec& spec, const WriteScope& scope, PatchRequest patch, bool force)
      : PatchMutation(spec, scope, std::move(patch)), force_(force) {}
  bool tracks_owners() const override { return true; }

 private:
  ApiResult<Document> Create() override { return Apply(spec_.ownership->NewObject()); }

  ApiResult<Document> Apply(const Document& live) override {
    const auto& config = patch_.document.root();
    if (!config.is_object() && !config.is_null()) {
      return std::unexpected(DecodeFailure(
          PatchType::kApply,
          fmt::format("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} "
                      "into Go value of type map[string]interface {{}}",
                      patch::JsonKindText(config))));
    }
    auto applied =
        spec_.ownership->Apply(live, patch_.document, scope_.manager, force_, scope_.now);
    if (!applied) return applied;
    if (!patch_.strict_errors.empty()) {
      const auto text = fmt::format("error converting YAML to JSON: yaml: unmarshal errors:\n  {}",
                                    fmt::join(patch_.strict_errors, "\n  "));
      if (patch_.validation == FieldValidation::kStrict) {
        return std::unexpected(BadRequestStatus("error strict decoding YAML: " + text));
      }
      scope_.Warn(text);
    }
    auto decoded = schema::DecodeJson(spec_.type(), value::ToJson(applied->root()));
    if (!decoded) return std::unexpected(InternalErrorStatus(decoded.error().message));
    return Defaulted(spec_, decoded->object);
  }

  const bool force_;
};

// A patch that cannot be read. Upstream reads it last, so what is not there is said before.
class Unreadable final : public Mutation {
 public:
  explicit Unreadable(Status why) : why_(std::move(why)) {}
  ApiResult<Document> Mutate(const Document*) override { return std::unexpected(why_); }

 private:
  const Status why_;
};

std::unique_ptr<Mutation> MutationFor(const ResourceSpec& spec, const WriteScope& scope,
                                      ApiResult<PatchRequest> patch, const WriteOptions& options) {
  if (!patch) return std::make_unique<Unreadable>(std::move(patch).error());
  switch (patch->type) {
    case PatchType::kStrategicMergePatch:
      return std::make_unique<StrategicMutation>(spec, scope, *std::move(patch));
    case PatchType::kApply:
      return std::make_unique<ApplyMutation>(spec, scope, *std::move(patch),
                                             options.force.value_or(false));
    default:
      return std::make_unique<JsonMutation>(spec, scope, *std::move(patch));
  }
}

}  // namespace

Task<void> ResourceHandler::Patch(Request request) const {
  auto type = NegotiatePatch(request.exchange.request.headers.Get("content-type").value_or(""),
                             !spec_.custom);
  if (!type) co_return Refuse(request, type.error());
  auto media = Negotiate(request);
  if (!media) co_return Refuse(request, media.error());
  auto body = TakeBody(co_await request.exchange.body->ReadAll(kMaxBodyBytes));
  if (!body) co_return Refuse(request, body.error());
  auto options = ReadPatchOptions(request.query, *type);
  if (!options) co_return Refuse(request, options.error());
  NameManager(request, *options);
  const auto scope = ScopeOf(request, *options);
  const auto mutation =
      MutationFor(spec_, scope, ReadPatch(*type, *body, options->validation()), *options);
  const bool may_create = *type == PatchType::kApply || spec_.strategy->AllowsCreateOnUpdate();
  auto written = co_await ChangeObject(spec_, scope, *mutation,
                                       {.may_create = may_create, .creator = request.user});
  if (!written) co_return Refuse(request, written.error());
  SendObject(request, written->created ? 201 : 200, *media, written->json);
}

}  // namespace keelson::rest
