#pragma once

// Permissions that another server knows: a SubjectAccessReview is posted to it, and its answer is
// believed for a while.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "auth/authorizer.h"
#include "auth/web_client.h"

namespace keelson::auth {

struct WebhookAuthorizerOptions {
  std::string url;
  std::string version = "v1";  // v1 or v1beta1
  Duration allowed_ttl = std::chrono::minutes(5);
  Duration refused_ttl = std::chrono::seconds(30);
  Duration timeout = std::chrono::seconds(30);
  Decision on_failure = Decision::kNoOpinion;
};

class WebhookAuthorizer final : public Authorizer {
 public:
  // The clock outlives it.
  WebhookAuthorizer(std::shared_ptr<WebClient> client, WebhookAuthorizerOptions options,
                    Clock& clock);

  std::optional<Authorization> TryAuthorize(const Attributes& attributes) override;
  Task<Authorization> Authorize(Attributes attributes) override;
  UserRules RulesFor(const UserPtr& user, std::string_view ns) override;

 private:
  // Two generations, as everywhere; longer questions are not remembered.
  static constexpr size_t kGeneration = 4096;
  static constexpr size_t kMaxRemembered = 10000;
  struct Known {
    Authorization verdict;
    TimePoint until;
  };
  using Table = std::unordered_map<std::string, Known>;

  std::optional<Authorization> Find(const std::string& spec);
  void Keep(std::string spec, const Authorization& verdict);
  Authorization Failed(std::string why) const;

  const std::shared_ptr<WebClient> client_;
  const WebhookAuthorizerOptions options_;
  Clock& clock_;
  std::mutex mutex_;
  Table young_;
  Table old_;
};

// The question as JSON: a SubjectAccessReviewSpec. Pure, like the next.
std::string ReviewSpec(const Attributes& attributes, std::string_view version);
Result<Authorization> ReadAccessReview(std::string_view answer);

}  // namespace keelson::auth
