#pragma once

// Tokens that another server knows: a TokenReview is posted to it.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/token.h"
#include "auth/web_client.h"

namespace keelson::auth {

class WebhookTokens final : public TokenAuthenticator {
 public:
  // `version` is v1 or v1beta1. The clock outlives it.
  WebhookTokens(std::shared_ptr<WebClient> client, std::string url, std::string version,
                std::vector<std::string> api_audiences, Clock& clock)
      : client_(std::move(client)),
        url_(std::move(url)),
        version_(std::move(version)),
        api_audiences_(std::move(api_audiences)),
        clock_(clock) {}

  std::optional<Authentication> TryToken(std::string_view, std::span<const std::string>) override {
    return std::nullopt;
  }
  Task<Authentication> CheckToken(std::string_view token,
                                  std::span<const std::string> audiences) override;

 private:
  const std::shared_ptr<WebClient> client_;
  const std::string url_;
  const std::string version_;
  const std::vector<std::string> api_audiences_;
  Clock& clock_;
};

// What an answered review says. Pure.
Authentication ReadTokenReview(std::string_view answer, std::span<const std::string> audiences,
                               std::span<const std::string> api_audiences);

}  // namespace keelson::auth
