#include "kube/access/reviews.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "schema/field_error.h"
#include "selector/field_selector.h"
#include "selector/label_selector.h"
#include "value/timestamp.h"

namespace keelson::kube::access {
namespace {

using rest::Reply;
using rest::SubresourceCall;
using schema::FieldErrors;
using value::Builder;
using value::Document;
using value::Path;
using value::Ref;
using value::Value;

constexpr std::string_view kAuthorizationGroup = "authorization.k8s.io";

Value Strings(Builder& builder, const std::vector<std::string>& texts) {
  std::vector<Value> items;
  for (const auto& text : texts) items.push_back(builder.String(text));
  return builder.List(items);
}

std::vector<std::string> ReadStrings(const Value& list) {
  std::vector<std::string> texts;
  for (const auto& item : list.items()) texts.emplace_back(item.AsString());
  return texts;
}

void WriteUser(Ref info, const auth::User& user) {
  auto& builder = info.builder();
  info.Set(Value::EmptyObject());
  if (!user.name.empty()) info.SetField("username", builder.String(user.name));
  if (!user.uid.empty()) info.SetField("uid", builder.String(user.uid));
  if (!user.groups.empty()) info.SetField("groups", Strings(builder, user.groups));
  if (user.extra.empty()) return;
  Ref extra = info.Field("extra");
  for (const auto& [key, values] : user.extra) extra.SetField(key, Strings(builder, values));
}

// Adds `text` to a list of remarks.
void AddRemark(std::string& remarks, std::string_view text) {
  if (!remarks.empty()) remarks += "; ";
  remarks += text;
}

// A selector of a review as text, which is how authorizers take it; what cannot be read of it is
// left out, which only asks for more.
struct SelectorText {
  std::string text;
  bool failed = false;

  void Add(std::string_view part) {
    if (!text.empty()) text += ',';
    text += part;
  }
  void Remark(std::string_view field, std::string& remarks) const {
    if (!failed) return;
    AddRemark(remarks, fmt::format("spec.resourceAttributes.{} {}ignored due to parse error", field,
                                   text.empty() ? "" : "partially "));
  }
};

SelectorText ReadFieldSelector(const Value& selector) {
  SelectorText read;
  if (const auto raw = selector["rawSelector"].AsString(); !raw.empty()) {
    if (selector::FieldSelector::Parse(raw)) {
      read.text = raw;
    } else {
      read.failed = true;
    }
  }
  for (const auto& requirement : selector["requirements"].items()) {
    const auto op = requirement["operator"].AsString();
    const auto values = requirement["values"].items();
    if (values.size() != 1 || (op != "In" && op != "NotIn")) {
      read.failed = true;
      continue;
    }
    read.Add(fmt::format("{}{}{}", requirement["key"].AsString(),
                         op == "In" ? "=" : "!=", values[0].AsString()));
  }
  return read;
}

SelectorText ReadLabelSelectorText(const Value& selector) {
  SelectorText read;
  if (const auto raw = selector["rawSelector"].AsString(); !raw.empty()) {
    if (selector::LabelSelector::Parse(raw)) {
      read.text = raw;
    } else {
      read.failed = true;
    }
  }
  for (const auto& requirement : selector["requirements"].items()) {
    const auto op = requirement["operator"].AsString();
    const auto key = requirement["key"].AsString();
    const auto values = fmt::format("{}", fmt::join(ReadStrings(requirement["values"]), ","));
    std::string part;
    if (op == "In") part = fmt::format("{} in ({})", key, values);
    if (op == "NotIn") part = fmt::format("{} notin ({})", key, values);
    if (op == "Exists") part = key;
    if (op == "DoesNotExist") part = fmt::format("!{}", key);
    if (part.empty() || !selector::LabelSelector::Parse(part)) {
      read.failed = true;
      continue;
    }
    read.Add(part);
  }
  return read;
}

auth::UserPtr ReadUser(const Value& spec) {
  auto user = std::make_shared<auth::User>(auth::User{.name = std::string(spec["user"].AsString()),
                                                      .uid = std::string(spec["uid"].AsString()),
                                                      .groups = ReadStrings(spec["groups"])});
  for (const auto& extra : spec["extra"].members()) {
    user->extra[std::string(extra.key())] = ReadStrings(extra.value);
  }
  return user;
}

void CheckSelector(const Value& selector, const Path& path, FieldErrors& errors) {
  if (!selector.is_object()) return;
  const auto raw = selector["rawSelector"].AsString();
  const bool listed = !selector["requirements"].items().empty();
  if (!raw.empty() && listed) {
    errors.push_back(schema::Invalid(path.Child("rawSelector"), raw,
                                     "may not specified at the same time as requirements"));
  }
  if (raw.empty() && !listed) {
    errors.push_back(schema::Required(
        path.Child("requirements"),
        fmt::format("when {} is specified, requirements or rawSelector is required",
                    path.ToString())));
  }
}

// The path a review asks about, as upstream's error prints it.
schema::BadValue PathAttributes(const Value& attributes) {
  std::string text = R"({"Path":)";
  AppendJsonString(text, attributes["path"].AsString());
  text += R"(,"Verb":)";
  AppendJsonString(text, attributes["verb"].AsString());
  return schema::BadValue::Json(text + "}");
}

bool OnlyHas(const Value& metadata, std::string_view allowed) {
  return std::ranges::all_of(metadata.members(), [&](const value::Member& member) {
    return member.key() == "managedFields" || member.key() == allowed || member.value.is_null();
  });
}

std::string GoStrings(const std::vector<std::string>& texts) {
  return fmt::format("[{}]", fmt::join(texts, " "));
}

}  // namespace

Task<ApiResult<Reply>> TokenReview::Create(const SubresourceCall& call, Document object) const {
  const auto spec = object.root()["spec"];
  const auto token = spec["token"].AsString();
  if (token.empty()) {
    co_return std::unexpected(
        BadRequestStatus("token is required for TokenReview in authentication"));
  }
  auto audiences = ReadStrings(spec["audiences"]);
  if (audiences.empty()) audiences = audiences_;
  auto verdict = token.size() > auth::kMaxTokenSize ? std::optional(auth::Authentication{})
                                                    : tokens_->TryToken(token, audiences);
  if (!verdict) verdict = co_await tokens_->CheckToken(token, audiences);
  if (!verdict->user && !verdict->error) {
    verdict->error = Error{ErrorCode::kDenied, "invalid bearer token"};
  }
  const bool for_them =
      audiences.empty() || std::ranges::any_of(verdict->audiences, [&](auto& one) {
        return std::ranges::find(audiences, one) != audiences.end();
      });
  if (verdict->user && !for_them) {
    log::Error("error validating audience. want={} got={}", GoStrings(audiences),
               GoStrings(verdict->audiences));
    co_return std::unexpected(InternalErrorStatus("error validating audiences"));
  }
  Builder builder(object);
  builder.root().RemoveField("status");
  Ref status = builder.root().Field("status");
  if (verdict->user) {
    status.SetField("authenticated", Value::Bool(true));
    WriteUser(status.Field("user"), *verdict->user);
    if (!verdict->audiences.empty()) {
      status.SetField("audiences", Strings(builder, verdict->audiences));
    }
  } else {
    status.SetField("user", Value::EmptyObject());
    status.SetField("error", builder.String(verdict->error->message));
  }
  co_return Reply{.object = std::move(builder).Finish()};
}

Task<ApiResult<Reply>> SelfSubjectReview::Create(const SubresourceCall& call,
                                                 Document object) const {
  if (call.request.user == nullptr) {
    co_return std::unexpected(BadRequestStatus("no user present on request"));
  }
  const auto now =
      std::chrono::floor<std::chrono::seconds>(call.scope.now.time_since_epoch()).count();
  Builder builder;
  builder.root().SetField("kind", Value::String("SelfSubjectReview"));
  builder.root().SetField("apiVersion", Value::String("authentication.k8s.io/v1"));
  builder.root()
      .Field("metadata")
      .SetField("creationTimestamp", builder.String(value::FormatTime({.seconds = now})));
  WriteUser(builder.root().Field("status").Field("userInfo"), *call.request.user);
  co_return Reply{.object = std::move(builder).Finish()};
}

ApiResult<void> AccessReview::Validate(const SubresourceCall& call, const Value& object) const {
  const auto spec = object["spec"];
  const auto resource = spec["resourceAttributes"];
  const auto path = spec["nonResourceAttributes"];
  const Path at("spec");
  FieldErrors errors;
  if (resource.is_object() && path.is_object()) {
    errors.push_back(schema::Invalid(at.Child("nonResourceAttributes"), PathAttributes(path),
                                     "cannot be specified in combination with resourceAttributes"));
  }
  if (!resource.is_object() && !path.is_object()) {
    errors.push_back(schema::Invalid(
        at.Child("resourceAttributes"), schema::BadValue::Json("null"),
        "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  }
  if (subject_ != Subject::kSelf && spec["user"].AsString().empty() &&
      spec["groups"].items().empty()) {
    errors.push_back(
        schema::Invalid(at.Child("user"), "", "at least one of user or group must be specified"));
  }
  CheckSelector(resource["fieldSelector"], at.Child("resourceAttributes").Child("fieldSelector"),
                errors);
  CheckSelector(resource["labelSelector"], at.Child("resourceAttributes").Child("labelSelector"),
                errors);
  const bool local = subject_ == Subject::kAnybodyInNamespace;
  const auto metadata = object["metadata"];
  if (!OnlyHas(metadata, local ? "namespace" : "")) {
    errors.push_back(
        schema::Invalid(Path("metadata"), metadata,
                        local ? "must be empty except for namespace" : "must be empty"));
  }
  if (local) {
    if (resource.is_object() &&
        resource["namespace"].AsString() != metadata["namespace"].AsString()) {
      errors.push_back(schema::Invalid(at.Child("resourceAttributes").Child("namespace"),
                                       resource["namespace"].AsString(),
                                       "must match metadata.namespace"));
    }
    if (path.is_object()) {
      errors.push_back(schema::Invalid(at.Child("nonResourceAttributes"), PathAttributes(path),
                                       "disallowed on this kind of request"));
    }
  }
  if (!errors.empty()) {
    // Upstream forgets the kind here.
    return std::unexpected(schema::InvalidStatus(kAuthorizationGroup, "", "", errors));
  }
  if (local && metadata["namespace"].AsString() != call.scope.ns) {
    return std::unexpected(BadRequestStatus(
        fmt::format("spec.resourceAttributes.namespace must match namespace: {}", call.scope.ns)));
  }
  return {};
}

Task<ApiResult<Reply>> AccessReview::Create(const SubresourceCall& call, Document object) const {
  if (auto valid = Validate(call, object.root()); !valid) co_return std::unexpected(valid.error());
  const auto spec = object.root()["spec"];
  auth::Attributes attributes{
      .user = subject_ == Subject::kSelf ? call.request.user : ReadUser(spec), .explain = true};
  SelectorText fields;
  SelectorText labels;
  if (const auto resource = spec["resourceAttributes"]; resource.is_object()) {
    fields = ReadFieldSelector(resource["fieldSelector"]);
    labels = ReadLabelSelectorText(resource["labelSelector"]);
    attributes.resource_request = true;
    attributes.verb = resource["verb"].AsString();
    attributes.group = resource["group"].AsString();
    attributes.version = resource["version"].AsString().empty() ? std::string_view("*")
                                                                : resource["version"].AsString();
    attributes.ns = resource["namespace"].AsString();
    attributes.resource = resource["resource"].AsString();
    attributes.subresource = resource["subresource"].AsString();
    attributes.name = resource["name"].AsString();
    attributes.field_selector = fields.text;
    attributes.label_selector = labels.text;
  } else {
    attributes.verb = spec["nonResourceAttributes"]["verb"].AsString();
    attributes.path = spec["nonResourceAttributes"]["path"].AsString();
  }
  auto verdict = authorizer_->TryAuthorize(attributes);
  if (!verdict) verdict = co_await authorizer_->Authorize(attributes);

  std::string remarks;
  if (verdict->error) AddRemark(remarks, verdict->error->message);
  fields.Remark("fieldSelector", remarks);
  labels.Remark("labelSelector", remarks);
  Builder builder(object);
  builder.root().RemoveField("status");
  Ref status = builder.root().Field("status");
  status.SetField("allowed", Value::Bool(verdict->decision == auth::Decision::kAllow));
  if (verdict->decision == auth::Decision::kDeny) status.SetField("denied", Value::Bool(true));
  if (!verdict->reason.empty()) status.SetField("reason", builder.String(verdict->reason));
  if (!remarks.empty()) status.SetField("evaluationError", builder.String(remarks));
  co_return Reply{.object = std::move(builder).Finish()};
}

Task<ApiResult<Reply>> RulesReview::Create(const SubresourceCall& call, Document object) const {
  const auto ns = object.root()["spec"]["namespace"].AsString();
  if (ns.empty()) co_return std::unexpected(BadRequestStatus("no namespace on request"));
  const auto found = authorizer_->RulesFor(call.request.user, ns);
  Builder builder;
  std::vector<Value> resources;
  std::vector<Value> paths;
  for (const auto& rule : found.rules) {
    const auto describe =
        [&](std::initializer_list<std::pair<std::string_view, const std::vector<std::string>*>>
                lists) {
          std::vector<value::Member> members;
          for (const auto& [name, list] : lists) {
            if (!list->empty() || name == "verbs") {
              members.push_back({builder.Intern(name), Strings(builder, *list)});
            }
          }
          return builder.Object(members);
        };
    if (!rule.resources.empty()) {
      resources.push_back(describe({{"verbs", &rule.verbs},
                                    {"apiGroups", &rule.api_groups},
                                    {"resources", &rule.resources},
                                    {"resourceNames", &rule.resource_names}}));
    }
    if (!rule.non_resource_urls.empty()) {
      paths.push_back(
          describe({{"verbs", &rule.verbs}, {"nonResourceURLs", &rule.non_resource_urls}}));
    }
  }
  Ref root = builder.root();
  root.SetField("kind", Value::String("SelfSubjectRulesReview"));
  root.SetField("apiVersion", Value::String("authorization.k8s.io/v1"));
  root.SetField("metadata", Value::EmptyObject());
  root.SetField("spec", Value::EmptyObject());
  Ref status = root.Field("status");
  status.SetField("resourceRules", builder.List(resources));
  status.SetField("nonResourceRules", builder.List(paths));
  status.SetField("incomplete", Value::Bool(found.incomplete));
  if (!found.error.empty()) status.SetField("evaluationError", builder.String(found.error));
  co_return Reply{.object = std::move(builder).Finish()};
}

}  // namespace keelson::kube::access
