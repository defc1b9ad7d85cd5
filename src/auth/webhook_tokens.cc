#include "auth/webhook_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "value/json.h"

namespace keelson::auth {
namespace {

using value::Value;

std::vector<std::string> ReadStrings(const Value& list) {
  std::vector<std::string> texts;
  for (const auto& item : list.items()) texts.emplace_back(item.AsString());
  return texts;
}

std::string ReviewOf(std::string_view version, std::string_view token,
                     std::span<const std::string> audiences) {
  std::string json =
      fmt::format(R"({{"kind":"TokenReview","apiVersion":"authentication.k8s.io/{}",)"
                  R"("metadata":{{"creationTimestamp":null}},"spec":{{"token":)",
                  version);
  AppendJsonString(json, token);
  if (!audiences.empty()) {
    json += R"(,"audiences":[)";
    for (const auto& audience : audiences) {
      if (!json.ends_with('[')) json += ',';
      AppendJsonString(json, audience);
    }
    json += ']';
  }
  return json + R"(},"status":{"user":{}}})";
}

Authentication Bad(std::string why) { return {.error = Error{ErrorCode::kDenied, std::move(why)}}; }

}  // namespace

Authentication ReadTokenReview(std::string_view answer, std::span<const std::string> audiences,
                               std::span<const std::string> api_audiences) {
  auto review = value::ParseJson(answer);
  if (!review) return Bad("the webhook's answer is no JSON");
  const auto status = review->root()["status"];
  if (!status["authenticated"].AsBool()) {
    const auto error = status["error"].AsString();
    return error.empty() ? Authentication{} : Bad(std::string(error));
  }
  auto good_for = ReadStrings(status["audiences"]);
  // One that knows nothing of audiences speaks for this server.
  if (good_for.empty()) good_for.assign(api_audiences.begin(), api_audiences.end());
  std::vector<std::string> common;
  for (const auto& audience : audiences) {
    if (std::ranges::find(good_for, audience) != good_for.end()) common.push_back(audience);
  }
  if (!audiences.empty() && common.empty()) return Authentication{};
  const auto info = status["user"];
  User user{.name = std::string(info["username"].AsString()),
            .uid = std::string(info["uid"].AsString()),
            .groups = ReadStrings(info["groups"])};
  for (const auto& extra : info["extra"].members()) {
    user.extra[std::string(extra.key())] = ReadStrings(extra.value);
  }
  if (!user.InGroup(kAuthenticatedGroup)) user.groups.emplace_back(kAuthenticatedGroup);
  return {.user = std::make_shared<const User>(std::move(user)), .audiences = std::move(common)};
}

Task<Authentication> WebhookTokens::CheckToken(std::string_view token,
                                               std::span<const std::string> audiences) {
  auto answer = co_await CallPatiently(
      *client_, {.method = "POST", .url = url_, .body = ReviewOf(version_, token, audiences)},
      clock_);
  if (!answer) co_return Bad(answer.error().message);
  if (answer->status != 200 && answer->status != 201) {
    co_return Bad(fmt::format("the webhook answered {}", answer->status));
  }
  co_return ReadTokenReview(answer->body, audiences, api_audiences_);
}

}  // namespace keelson::auth
