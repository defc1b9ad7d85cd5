#pragma once

// Tokens with which new nodes introduce themselves: "id.secret", kept as secrets of type
// bootstrap.kubernetes.io/token in kube-system.

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "auth/token.h"
#include "base/clock.h"
#include "rest/resource.h"
#include "value/value.h"

namespace keelson::kube::access {

class BootstrapTokens final : public auth::TokenAuthenticator {
 public:
  explicit BootstrapTokens(const Clock& clock) : clock_(clock) {}

  // Where the secrets are; until then no token is believed. Null ends that; `stores` outlives the
  // requests being served.
  void SetStores(const rest::ObjectStores* stores) {
    stores_.store(stores, std::memory_order_release);
  }

  std::optional<auth::Authentication> TryToken(std::string_view token,
                                               std::span<const std::string> audiences) override;
  Task<auth::Authentication> CheckToken(std::string_view token,
                                        std::span<const std::string> audiences) override;

 private:
  const Clock& clock_;
  std::atomic<const rest::ObjectStores*> stores_{nullptr};
};

// Whom the secret lets in with this token; nothing when it does not. Pure.
std::optional<auth::User> BootstrapUser(const value::Value& secret, std::string_view token,
                                        WallTime now);

}  // namespace keelson::kube::access
