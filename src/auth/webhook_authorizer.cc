#include "auth/webhook_authorizer.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "selector/field_selector.h"
#include "selector/label_selector.h"
#include "value/json.h"

namespace keelson::auth {
namespace {

// Writes members that are not empty.
class ObjectWriter {
 public:
  void Text(std::string_view name, std::string_view text) {
    if (text.empty()) return;
    Name(name);
    AppendJsonString(out_, text);
  }
  void Texts(std::string_view name, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    Name(name);
    out_ += '[';
    for (const auto& text : texts) {
      if (!out_.ends_with('[')) out_ += ',';
      AppendJsonString(out_, text);
    }
    out_ += ']';
  }
  void Raw(std::string_view name, std::string_view json) {
    Name(name);
    out_ += json;
  }
  std::string Finish() && { return std::move(out_) + "}"; }

 private:
  void Name(std::string_view name) {
    if (out_.size() > 1) out_ += ',';
    AppendJsonString(out_, name);
    out_ += ':';
  }
  std::string out_ = "{";
};

std::string_view OperatorName(selector::LabelOperator op) {
  using selector::LabelOperator;
  switch (op) {
    case LabelOperator::kIn:
    case LabelOperator::kEquals:
    case LabelOperator::kDoubleEquals:
      return "In";
    case LabelOperator::kNotIn:
    case LabelOperator::kNotEquals:
      return "NotIn";
    case LabelOperator::kExists:
      return "Exists";
    case LabelOperator::kNotExists:
      return "DoesNotExist";
    case LabelOperator::kGreater:
    case LabelOperator::kLess:
      return "";
  }
  return "";
}

// {"requirements":[...]}; empty when there is nothing that can be said.
std::string LabelRequirements(std::string_view text) {
  auto selector = selector::LabelSelector::Parse(text);
  if (!selector) return {};
  std::string list;
  for (const auto& requirement : selector->requirements()) {
    const auto op = OperatorName(requirement.op);
    if (op.empty()) continue;
    ObjectWriter writer;
    writer.Text("key", requirement.key);
    writer.Text("operator", op);
    writer.Texts("values", requirement.values);
    list += (list.empty() ? "" : ",") + std::move(writer).Finish();
  }
  return list.empty() ? list : R"({"requirements":[)" + list + "]}";
}

std::string FieldRequirements(std::string_view text) {
  auto selector = selector::FieldSelector::Parse(text);
  if (!selector) return {};
  std::string list;
  for (const auto& term : selector->terms()) {
    ObjectWriter writer;
    writer.Text("key", term.field);
    writer.Text("operator", term.equal ? "In" : "NotIn");
    writer.Texts("values", {term.value});
    list += (list.empty() ? "" : ",") + std::move(writer).Finish();
  }
  return list.empty() ? list : R"({"requirements":[)" + list + "]}";
}

std::string ResourceJson(const Attributes& attributes) {
  ObjectWriter writer;
  writer.Text("namespace", attributes.ns);
  writer.Text("verb", attributes.verb);
  writer.Text("group", attributes.group);
  writer.Text("version", attributes.version);
  writer.Text("resource", attributes.resource);
  writer.Text("subresource", attributes.subresource);
  writer.Text("name", attributes.name);
  if (auto fields = FieldRequirements(attributes.field_selector); !fields.empty()) {
    writer.Raw("fieldSelector", fields);
  }
  if (auto labels = LabelRequirements(attributes.label_selector); !labels.empty()) {
    writer.Raw("labelSelector", labels);
  }
  return std::move(writer).Finish();
}

std::string PathJson(const Attributes& attributes) {
  ObjectWriter writer;
  writer.Text("path", attributes.path);
  writer.Text("verb", attributes.verb);
  return std::move(writer).Finish();
}

}  // namespace

std::string ReviewSpec(const Attributes& attributes, std::string_view version) {
  ObjectWriter spec;
  if (attributes.resource_request) {
    spec.Raw("resourceAttributes", ResourceJson(attributes));
  } else {
    spec.Raw("nonResourceAttributes", PathJson(attributes));
  }
  spec.Text("user", attributes.user->name);
  spec.Texts(version == "v1beta1" ? "group" : "groups", attributes.user->groups);
  if (!attributes.user->extra.empty()) {
    ObjectWriter extra;
    for (const auto& [key, values] : attributes.user->extra) extra.Texts(key, values);
    spec.Raw("extra", std::move(extra).Finish());
  }
  spec.Text("uid", attributes.user->uid);
  return std::move(spec).Finish();
}

Result<Authorization> ReadAccessReview(std::string_view answer) {
  TRY(auto review, value::ParseJson(answer));
  const auto status = review.root()["status"];
  if (!status.is_object()) return Fail(ErrorCode::kInvalid, "the answer has no status");
  const bool allowed = status["allowed"].AsBool();
  const bool denied = status["denied"].AsBool();
  if (allowed && denied) {
    return Fail(ErrorCode::kInvalid,
                "webhook subject access review returned both allow and deny response");
  }
  return Authorization{.decision = allowed  ? Decision::kAllow
                                   : denied ? Decision::kDeny
                                            : Decision::kNoOpinion,
                       .reason = std::string(status["reason"].AsString())};
}

WebhookAuthorizer::WebhookAuthorizer(std::shared_ptr<WebClient> client,
                                     WebhookAuthorizerOptions options, Clock& clock)
    : client_(std::move(client)), options_(std::move(options)), clock_(clock) {}

std::optional<Authorization> WebhookAuthorizer::Find(const std::string& spec) {
  std::lock_guard lock(mutex_);
  for (auto* table : {&young_, &old_}) {
    auto found = table->find(spec);
    if (found != table->end() && clock_.Now() < found->second.until) return found->second.verdict;
  }
  return std::nullopt;
}

void WebhookAuthorizer::Keep(std::string spec, const Authorization& verdict) {
  const auto ttl =
      verdict.decision == Decision::kAllow ? options_.allowed_ttl : options_.refused_ttl;
  if (ttl <= Duration::zero() || spec.size() > kMaxRemembered) return;
  std::lock_guard lock(mutex_);
  if (young_.size() >= kGeneration) old_ = std::exchange(young_, {});
  young_.insert_or_assign(std::move(spec), Known{verdict, clock_.Now() + ttl});
}

Authorization WebhookAuthorizer::Failed(std::string why) const {
  log::ErrorS("Failed to make webhook authorizer request", {{"err", why}});
  return {.decision = options_.on_failure, .error = Error{ErrorCode::kUnavailable, std::move(why)}};
}

std::optional<Authorization> WebhookAuthorizer::TryAuthorize(const Attributes& attributes) {
  return Find(ReviewSpec(attributes, options_.version));
}

Task<Authorization> WebhookAuthorizer::Authorize(Attributes attributes) {
  auto spec = ReviewSpec(attributes, options_.version);
  if (auto known = Find(spec)) co_return *std::move(known);
  auto body = fmt::format(
      R"({{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/{}",)"
      R"("metadata":{{"creationTimestamp":null}},"spec":{},"status":{{"allowed":false}}}})",
      options_.version, spec);
  auto answer = co_await CallPatiently(
      *client_,
      {.method = "POST", .url = options_.url, .body = std::move(body), .timeout = options_.timeout},
      clock_);
  if (!answer) co_return Failed(answer.error().message);
  if (answer->status != 200 && answer->status != 201) {
    co_return Failed(fmt::format("the webhook answered {}", answer->status));
  }
  auto verdict = ReadAccessReview(answer->body);
  if (!verdict) co_return Failed(verdict.error().message);
  Keep(std::move(spec), *verdict);
  co_return *std::move(verdict);
}

UserRules WebhookAuthorizer::RulesFor(const UserPtr&, std::string_view) {
  return {.incomplete = true, .error = "webhook authorizer does not support user rule resolution"};
}

}  // namespace keelson::auth
