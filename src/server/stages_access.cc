// Who asks, on whose behalf, may they, and the record of it.

#include <algorithm>

#include "base/log.h"
#include "base/quote.h"
#include "server/reply.h"
#include "server/stages.h"

namespace keelson::server {
namespace {

// HTTP/2 streams are cheap to open and dear to serve: a peer nobody knows gets one request per
// connection.
void LimitUnknownPeer(RequestContext& context) {
  if (context.request.protocol == http::Protocol::kHttp2) context.response.CloseConnection();
}

class Authentication final : public Stage {
 public:
  Authentication(std::shared_ptr<auth::Authenticator> authenticator,
                 std::vector<std::string> api_audiences)
      : authenticator_(std::move(authenticator)), api_audiences_(std::move(api_audiences)) {}
  std::string_view name() const override { return "Authentication"; }
  std::string_view latency_label() const override { return "authentication"; }

  Verdict Before(RequestContext& context) override {
    auto verdict = authenticator_->TryAuthenticate(context.request);
    return verdict ? Decide(context, *std::move(verdict)) : Verdict::kWait;
  }
  Task<Verdict> BeforeWaiting(RequestContext& context) override {
    auto verdict = co_await authenticator_->Authenticate(context.request);
    co_return Decide(context, std::move(verdict));
  }

 private:
  Verdict Decide(RequestContext& context, auth::Authentication verdict) {
    if (!verdict.user || !AudienceAccepted(verdict.audiences)) {
      if (verdict.error) {
        log::ErrorS("Unable to authenticate the request", {{"err", verdict.error->message}});
      } else if (verdict.user) {
        log::Error("unable to match the audience: [{}] , accepted: [{}]",
                   fmt::join(verdict.audiences, " "), fmt::join(api_audiences_, " "));
      }
      LimitUnknownPeer(context);
      // RFC 9110 asks for it with every 401.
      context.response.headers().AddView("www-authenticate", "Bearer");
      SendStatus(context, UnauthorizedStatus("Unauthorized"));
      return Verdict::kAnswer;
    }
    ForgetCredentials(context.request.headers);
    if (verdict.user->IsAnonymous()) LimitUnknownPeer(context);
    context.user = std::move(verdict.user);
    return Verdict::kPass;
  }

  bool AudienceAccepted(const std::vector<std::string>& audiences) const {
    if (api_audiences_.empty() || audiences.empty()) return true;
    return std::any_of(audiences.begin(), audiences.end(), [&](const std::string& audience) {
      return std::find(api_audiences_.begin(), api_audiences_.end(), audience) !=
             api_audiences_.end();
    });
  }

  // Nothing behind this stage may see, log or forward what proved the identity.
  static void ForgetCredentials(http::Headers& headers) {
    bool present = false;
    for (const auto& field : headers.fields()) {
      present |= field.name.starts_with("x-remote-") || field.name == "authorization";
    }
    if (!present) return;
    std::vector<std::string> names;
    for (const auto& field : headers.fields()) {
      if (field.name == "authorization" || field.name == "x-remote-user" ||
          field.name == "x-remote-uid" || field.name == "x-remote-group" ||
          field.name.starts_with("x-remote-extra-")) {
        names.emplace_back(field.name);
      }
    }
    for (const auto& name : names) headers.Remove(name);
  }

  std::shared_ptr<auth::Authenticator> authenticator_;
  const std::vector<std::string> api_audiences_;
};

class Audit final : public Stage {
 public:
  Audit(audit::Backend& backend, const Clock& clock) : backend_(backend), clock_(clock) {}
  std::string_view name() const override { return "Audit"; }
  std::string_view latency_label() const override { return "audit"; }
  Verdict Before(RequestContext& context) override {
    if (backend_.enabled()) Record(context, audit::Stage::kRequestReceived);
    return Verdict::kPass;
  }
  void After(RequestContext& context) noexcept override {
    if (backend_.enabled()) Record(context, audit::Stage::kResponseComplete);
  }

 private:
  void Record(RequestContext& context, audit::Stage stage) {
    const auto& info = context.info;
    backend_.Record(
        {.stage = stage,
         .audit_id = context.audit_id,
         .verb = info.verb,
         .uri = context.request.target,
         .source_address = context.request.connection != nullptr
                               ? std::string_view(context.request.connection->remote_address)
                               : std::string_view(),
         .user_agent = context.request.headers.Get("user-agent").value_or(""),
         .group = info.api_group,
         .version = info.api_version,
         .ns = info.ns,
         .resource = info.resource,
         .subresource = info.subresource,
         .name = info.name,
         .user = context.user,
         .code = context.response.status(),
         .received = clock_.WallNow() - (clock_.Now() - context.request.received)});
  }

  audit::Backend& backend_;
  const Clock& clock_;
};

auth::Attributes AttributesOf(const RequestContext& context) {
  const auto& info = context.info;
  return {.user = context.user,
          .resource_request = info.is_resource_request,
          .verb = info.verb,
          .path = info.path,
          .group = info.api_group,
          .version = info.api_version,
          .ns = info.ns,
          .resource = info.resource,
          .subresource = info.subresource,
          .name = info.name,
          .field_selector = info.field_selector,
          .label_selector = info.label_selector};
}

class Impersonation final : public Stage {
 public:
  explicit Impersonation(std::shared_ptr<auth::Impersonator> impersonator)
      : impersonator_(std::move(impersonator)) {}
  std::string_view name() const override { return "ConstrainedImpersonation"; }
  std::string_view latency_label() const override { return "constrainedimpersonation"; }

  Verdict Before(RequestContext& context) override {
    bool asked = false;
    for (const auto& field : context.request.headers.fields()) {
      asked |= field.name.starts_with("impersonate-");
    }
    if (!asked) return Verdict::kPass;
    if (impersonator_) return Verdict::kWait;
    // Serving it as the real user would do something else than was asked for.
    context.response.headers().AddView("X-Content-Type-Options", "nosniff");
    SendStatus(context, ForbiddenStatus({}, "", "impersonation is not enabled on this server"));
    return Verdict::kAnswer;
  }

  Task<Verdict> BeforeWaiting(RequestContext& context) override {
    auto user = co_await impersonator_->Impersonate(context.request, AttributesOf(context));
    if (!user) {
      context.response.headers().AddView("X-Content-Type-Options", "nosniff");
      SendStatus(context, user.error());
      co_return Verdict::kAnswer;
    }
    context.user = *std::move(user);
    std::vector<std::string> names;
    for (const auto& field : context.request.headers.fields()) {
      if (field.name.starts_with("impersonate-")) names.emplace_back(field.name);
    }
    for (const auto& name : names) context.request.headers.Remove(name);
    co_return Verdict::kPass;
  }

 private:
  std::shared_ptr<auth::Impersonator> impersonator_;
};

class Authorization final : public Stage {
 public:
  explicit Authorization(std::shared_ptr<auth::Authorizer> authorizer)
      : authorizer_(std::move(authorizer)) {}
  std::string_view name() const override { return "Authorization"; }
  std::string_view latency_label() const override { return "authorization"; }

  Verdict Before(RequestContext& context) override {
    auto attributes = AttributesOf(context);
    auto verdict = authorizer_->TryAuthorize(attributes);
    return verdict ? Decide(context, attributes, *verdict) : Verdict::kWait;
  }
  Task<Verdict> BeforeWaiting(RequestContext& context) override {
    auto attributes = AttributesOf(context);
    auto verdict = co_await authorizer_->Authorize(attributes);
    co_return Decide(context, attributes, verdict);
  }

 private:
  static Verdict Decide(RequestContext& context, const auth::Attributes& attributes,
                        const auth::Authorization& verdict) {
    // An authorizer may meet errors and still allow, so the decision counts first.
    if (verdict.decision == auth::Decision::kAllow) return Verdict::kPass;
    if (verdict.error) {
      SendInternalError(context, verdict.error->message);
      return Verdict::kAnswer;
    }
    if (log::V(4)) {
      log::InfoS("Forbidden", {{"URI", context.request.target}, {"reason", verdict.reason}});
    }
    context.response.headers().AddView("X-Content-Type-Options", "nosniff");
    SendStatus(context, auth::ForbiddenStatus(attributes, verdict.reason));
    return Verdict::kAnswer;
  }

  std::shared_ptr<auth::Authorizer> authorizer_;
};

}  // namespace

StagePtr AuthenticationStage(std::shared_ptr<auth::Authenticator> authenticator,
                             std::vector<std::string> api_audiences) {
  return std::make_unique<Authentication>(std::move(authenticator), std::move(api_audiences));
}
StagePtr AuditStage(audit::Backend& backend, const Clock& clock) {
  return std::make_unique<Audit>(backend, clock);
}
StagePtr ImpersonationStage(std::shared_ptr<auth::Impersonator> impersonator) {
  return std::make_unique<Impersonation>(std::move(impersonator));
}
StagePtr AuthorizationStage(std::shared_ptr<auth::Authorizer> authorizer) {
  return std::make_unique<Authorization>(std::move(authorizer));
}

}  // namespace keelson::server
