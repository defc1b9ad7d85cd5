#pragma once

// The seam for Impersonate-* headers: who the request wants to be, if it may.

#include <expected>
#include <memory>

#include "auth/user.h"
#include "base/status.h"
#include "base/task.h"
#include "http/exchange.h"

namespace keelson::server {

class Impersonator {
 public:
  virtual ~Impersonator() = default;
  // Called only when an Impersonate-* header is present. The user to go on as, or the answer.
  virtual Task<ApiResult<auth::UserPtr>> Impersonate(const http::Request& request,
                                                     auth::UserPtr user) = 0;
};

}  // namespace keelson::server
