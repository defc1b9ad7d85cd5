#include "kube/access/access_kinds.h"

#include <utility>

#include "kube/access/policy_objects.h"
#include "kube/access/rbac_kinds.h"
#include "kube/access/reviews.h"
#include "kube/access/token_request.h"

namespace keelson::kube::access {
namespace {

using rest::WriteScope;
using value::Value;

constexpr std::string_view kAuthentication = "authentication.k8s.io";
constexpr std::string_view kAuthorization = "authorization.k8s.io";

// The plain strategy of a kind, and before everything else the question whether the writer may
// grant what is written.
class GuardedStrategy final : public rest::Strategy {
 public:
  GuardedStrategy(const rest::Strategy& plain, const Escalation& escalation, bool binding,
                  bool cluster)
      : plain_(plain), escalation_(escalation), binding_(binding), cluster_(cluster) {}

  names::NameCheck name_check() const override { return plain_.name_check(); }
  bool AllowsCreateOnUpdate() const override { return plain_.AllowsCreateOnUpdate(); }
  void Validate(const WriteScope& scope, const Value& object,
                schema::FieldErrors& errors) const override {
    plain_.Validate(scope, object, errors);
  }
  void ValidateUpdate(const WriteScope& scope, const Value& object, const Value& old,
                      schema::FieldErrors& errors) const override {
    plain_.ValidateUpdate(scope, object, old, errors);
  }

  bool Reserves() const override { return true; }
  Task<ApiResult<rest::ReservationPtr>> Reserve(const WriteScope& scope, value::Ref object,
                                                const Value* old) const override {
    auto allowed = binding_ ? co_await escalation_.CheckBinding(scope, object.Get(), old, cluster_)
                            : co_await escalation_.CheckRole(scope, object.Get(), old, cluster_);
    if (!allowed) co_return std::unexpected(std::move(allowed).error());
    co_return rest::ReservationPtr();
  }

 private:
  const rest::Strategy& plain_;
  const Escalation& escalation_;
  const bool binding_;
  const bool cluster_;
};

}  // namespace

AccessKinds::AccessKinds(Parts parts) : escalation_(parts.authorizer, parts.rbac, parts.policy) {
  for (const auto& row : Strategies()) {
    strategies_.push_back(std::make_unique<GuardedStrategy>(*row.strategy, escalation_,
                                                            row.resource.ends_with("bindings"),
                                                            row.resource.starts_with("cluster")));
    strategy_rows_.push_back({row.group, row.resource, strategies_.back().get()});
  }
  const auto add = [&](std::string_view group, std::string_view resource,
                       std::string_view subresource,
                       std::unique_ptr<const rest::Subresource> handler) {
    handler_rows_.push_back({.group = group,
                             .resource = resource,
                             .subresource = subresource,
                             .handler = handler.get()});
    handlers_.push_back(std::move(handler));
  };
  using Subject = AccessReview::Subject;
  const auto review = [&](Subject subject) {
    return std::make_unique<AccessReview>(subject, parts.authorizer);
  };
  add(kAuthentication, "tokenreviews", "",
      std::make_unique<TokenReview>(parts.tokens, parts.api_audiences));
  add(kAuthentication, "selfsubjectreviews", "", std::make_unique<SelfSubjectReview>());
  add(kAuthorization, "subjectaccessreviews", "", review(Subject::kAnybody));
  add(kAuthorization, "selfsubjectaccessreviews", "", review(Subject::kSelf));
  add(kAuthorization, "localsubjectaccessreviews", "", review(Subject::kAnybodyInNamespace));
  add(kAuthorization, "selfsubjectrulesreviews", "",
      std::make_unique<RulesReview>(parts.authorizer));
  if (parts.accounts != nullptr) {
    add("", "serviceaccounts", "token", std::make_unique<TokenRequest>(parts.accounts));
  }
}

AccessKinds::~AccessKinds() = default;

void AccessKinds::AddTo(rest::KindTable& table) const {
  table.Add(strategy_rows_);
  table.Add(handler_rows_);
}

}  // namespace keelson::kube::access
