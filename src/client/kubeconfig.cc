#include "client/kubeconfig.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

#include "base/file.h"
#include "crypto/base64.h"
#include "value/document.h"
#include "value/yaml.h"

namespace keelson::client {
namespace {

using value::Value;

// The `what` of the list's entry of that name.
Value Named(const Value& list, std::string_view name, std::string_view what) {
  for (const auto& entry : list.items()) {
    if (entry["name"].AsString() == name) return entry[what];
  }
  return {};
}

std::string Resolved(const Value& path, const std::string& folder) {
  std::string text(path.AsString());
  return text.empty() || text.starts_with('/') || folder.empty() ? text : folder + "/" + text;
}

// Data that stands in the file itself, or in the one it names.
Result<std::string> ReadPart(const Value& entry, std::string_view name, const std::string& folder) {
  if (const auto data = entry[std::string(name) + "-data"].AsString(); !data.empty()) {
    return crypto::Base64Decode(data);
  }
  const auto path = Resolved(entry[name], folder);
  return path.empty() ? std::string() : ReadWholeFile(path);
}

// A token that somebody keeps fresh: read again once a minute.
class TokenFile {
 public:
  explicit TokenFile(std::string path) : path_(std::move(path)) {}

  Result<std::string> Token() {
    const auto now = std::chrono::steady_clock::now();
    std::lock_guard lock(mutex_);
    if (token_.empty() || now - read_ > std::chrono::minutes(1)) {
      auto text = ReadWholeFile(path_);
      if (!text) return token_.empty() ? std::move(text) : Result<std::string>(token_);
      while (text->ends_with('\n')) text->pop_back();
      token_ = *std::move(text);
      read_ = now;
    }
    return token_;
  }

 private:
  const std::string path_;
  std::mutex mutex_;
  std::string token_;
  std::chrono::steady_clock::time_point read_;
};

}  // namespace

Result<Target> ReadKubeconfig(std::string_view text, const std::string& folder) {
  TRY(auto parsed, value::ParseYaml(text));
  const auto root = parsed.root();
  const auto current = root["current-context"].AsString();
  const auto context = Named(root["contexts"], current, "context");
  const auto cluster = Named(root["clusters"], context["cluster"].AsString(), "cluster");
  const auto user = Named(root["users"], context["user"].AsString(), "user");
  Target target{.server = std::string(cluster["server"].AsString())};
  if (target.server.empty()) {
    return Fail(ErrorCode::kInvalid, "invalid configuration: no server has been provided");
  }
  auto& tls = target.options.tls;
  tls.verify_server = !cluster["insecure-skip-tls-verify"].AsBool();
  TRY(tls.ca_pem, ReadPart(cluster, "certificate-authority", folder));
  target.options.server_name = cluster["tls-server-name"].AsString();
  TRY(tls.client_pair.certificate_pem, ReadPart(user, "client-certificate", folder));
  TRY(tls.client_pair.key_pem, ReadPart(user, "client-key", folder));
  if (auto file = Resolved(user["tokenFile"], folder); !file.empty()) {
    auto tokens = std::make_shared<TokenFile>(std::move(file));
    TRY_VOID(tokens->Token());
    target.options.authorize = [tokens](http::Headers& headers) -> Result<void> {
      TRY(auto token, tokens->Token());
      headers.Set("authorization", "Bearer " + token);
      return {};
    };
  } else if (std::string token(user["token"].AsString()); !token.empty()) {
    target.options.authorize = [token](http::Headers& headers) -> Result<void> {
      headers.Set("authorization", "Bearer " + token);
      return {};
    };
  }
  return target;
}

Result<Target> ReadKubeconfigFile(const std::string& path) {
  TRY(auto text, ReadWholeFile(path));
  return ReadKubeconfig(text, std::filesystem::path(path).parent_path().string());
}

}  // namespace keelson::client
