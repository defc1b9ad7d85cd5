#pragma once

// Acting as somebody else: the Impersonate-* headers and what it takes to be allowed to use them.
//
// Two sets of permissions let a user in. The constrained modes need one permission for who is
// impersonated (impersonate:<mode> on users, groups, uids, userextras, nodes or serviceaccounts of
// authentication.k8s.io) and one for what is then done (impersonate-on:<mode>:<verb> on the
// resource asked for); the mode follows from the wanted user. The older form needs only the verb
// impersonate. The modes are tried in order; when none lets the request pass, the first refusal is
// the answer. Thread-safe.

#include <memory>

#include "auth/authorizer.h"
#include "auth/user.h"
#include "base/status.h"
#include "base/task.h"
#include "http/exchange.h"

namespace keelson::auth {

class Impersonator {
 public:
  explicit Impersonator(std::shared_ptr<Authorizer> authorizer)
      : authorizer_(std::move(authorizer)) {}

  // The user to go on as, or the answer. `attributes` are the request's as its real user makes it.
  // Without an Impersonate-* header that says anything it is that user. Both arguments outlive the
  // task.
  Task<ApiResult<UserPtr>> Impersonate(const http::Request& request, Attributes attributes);

 private:
  struct Mode;

  Task<ApiResult<UserPtr>> TryMode(const Mode& mode, const User& wanted, Attributes attributes);
  Task<ApiResult<void>> Check(Attributes attributes);
  Task<ApiResult<void>> CheckGroups(const Mode& mode, const User& wanted, Attributes attributes);
  Task<ApiResult<void>> CheckExtra(const Mode& mode, const User& wanted, Attributes attributes);

  std::shared_ptr<Authorizer> authorizer_;
};

}  // namespace keelson::auth
