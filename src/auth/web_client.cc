#include "auth/web_client.h"

#include <fmt/format.h>

#include <utility>

#include "auth/followed_file.h"
#include "crypto/base64.h"
#include "value/document.h"
#include "value/yaml.h"

namespace keelson::auth {
namespace {

using value::Value;

constexpr int kAttempts = 5;
constexpr Duration kFirstPause = std::chrono::milliseconds(500);

// The `what` of the list's entry of that name.
Value Named(const Value& list, std::string_view name, std::string_view what) {
  for (const auto& entry : list.items()) {
    if (entry["name"].AsString() == name) return entry[what];
  }
  return {};
}

// Data that stands in the file itself, or in the one it names.
Result<std::string> ReadPart(const Value& entry, std::string_view name, const std::string& folder) {
  if (const auto data = entry[std::string(name) + "-data"].AsString(); !data.empty()) {
    return crypto::Base64Decode(data);
  }
  std::string path(entry[name].AsString());
  if (path.empty()) return std::string();
  if (!path.starts_with('/') && !folder.empty()) path = folder + "/" + path;
  return ReadWholeFile(path);
}

}  // namespace

Result<std::shared_ptr<HttpWebClient>> HttpWebClient::Create(http::ClientOptions options,
                                                             net::IoPool& pool) {
  TRY(auto client, http::Client::Create(std::move(options), pool));
  return std::shared_ptr<HttpWebClient>(new HttpWebClient(std::move(client)));
}

Task<Result<WebAnswer>> HttpWebClient::Call(WebRequest request) {
  http::ClientRequest call{
      .method = request.method, .url = std::move(request.url), .timeout = request.timeout};
  call.headers.Add("Accept", "application/json");
  if (!request.body.empty()) {
    call.headers.Add("Content-Type", "application/json");
    call.body.push_back(Slice::Own(std::move(request.body)));
  }
  CO_TRY(auto response, co_await client_->Send(std::move(call)));
  CO_TRY(auto body, co_await response.body().ReadAll(kMaxAnswer));
  co_return WebAnswer{response.status(), std::move(body)};
}

Task<Result<WebAnswer>> CallPatiently(WebClient& client, WebRequest request, Clock& clock) {
  Duration pause = kFirstPause;
  for (int attempt = 1;; ++attempt) {
    auto answer = co_await client.Call(request);
    if ((answer && answer->status < 500 && answer->status != 429) || attempt == kAttempts) {
      co_return answer;
    }
    co_await SleepFor(clock, pause);
    pause += pause / 2;
  }
}

Result<KubeconfigTarget> ReadKubeconfig(std::string_view text, const std::string& folder) {
  TRY(auto parsed, value::ParseYaml(text));
  const auto root = parsed.root();
  const auto current = root["current-context"].AsString();
  const auto context = Named(root["contexts"], current, "context");
  const auto cluster = Named(root["clusters"], context["cluster"].AsString(), "cluster");
  const auto user = Named(root["users"], context["user"].AsString(), "user");
  KubeconfigTarget target{.server = std::string(cluster["server"].AsString())};
  if (target.server.empty()) {
    return Fail(ErrorCode::kInvalid, "invalid configuration: no server has been provided");
  }
  auto& tls = target.options.tls;
  tls.verify_server = !cluster["insecure-skip-tls-verify"].AsBool();
  TRY(tls.ca_pem, ReadPart(cluster, "certificate-authority", folder));
  target.options.server_name = cluster["tls-server-name"].AsString();
  TRY(tls.client_pair.certificate_pem, ReadPart(user, "client-certificate", folder));
  TRY(tls.client_pair.key_pem, ReadPart(user, "client-key", folder));
  std::string token(user["token"].AsString());
  if (const std::string file(user["tokenFile"].AsString()); !file.empty()) {
    TRY(token, ReadWholeFile(file));
    while (!token.empty() && token.back() == '\n') token.pop_back();
  }
  if (!token.empty()) {
    target.options.authorize = [token](http::Headers& headers) -> Result<void> {
      headers.Set("Authorization", "Bearer " + token);
      return {};
    };
  }
  return target;
}

}  // namespace keelson::auth
