#include "rest/webhook_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"

namespace keelson::rest {

using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

void CheckWebhookUrl(std::string_view url, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kForm = "; desired format: https://host[/path]";
  const auto hash = url.find('#');
  const auto fragment = hash == std::string_view::npos ? "" : url.substr(hash + 1);
  auto rest = url.substr(0, hash);
  const auto question = rest.find('?');
  const auto query = question == std::string_view::npos ? "" : rest.substr(question + 1);
  rest = rest.substr(0, question);
  const auto colon = rest.find(':');
  const bool has_scheme = colon != std::string_view::npos && colon < rest.find('/');
  const auto scheme = has_scheme ? rest.substr(0, colon) : "";
  if (has_scheme) rest.remove_prefix(colon + 1);
  std::string_view authority;
  if (rest.starts_with("//")) authority = rest.substr(2, rest.find('/', 2) - 2);
  const auto at = authority.rfind('@');
  const auto host = at == std::string_view::npos ? authority : authority.substr(at + 1);
  if (scheme != "https") {
    errors.push_back(
        Invalid(path, scheme, fmt::format("'https' is the only allowed URL scheme{}", kForm)));
  }
  if (host.empty()) {
    errors.push_back(Invalid(path, host, fmt::format("host must be specified{}", kForm)));
  }
  if (at != std::string_view::npos) {
    errors.push_back(
        Invalid(path, authority.substr(0, at), "user information is not permitted in the URL"));
  }
  if (!fragment.empty()) {
    errors.push_back(Invalid(path, fragment, "fragments are not permitted in the URL"));
  }
  if (!query.empty()) {
    errors.push_back(Invalid(path, query, "query parameters are not permitted in the URL"));
  }
}

void CheckWebhookService(const Value& service, const Path& path, FieldErrors& errors) {
  // Upstream's callers pass the two the other way round.
  if (service["namespace"].AsString().empty()) errors.push_back(Required(path.Child("name"), ""));
  if (service["name"].AsString().empty()) errors.push_back(Required(path.Child("namespace"), ""));
  const int64_t port = service["port"].AsInt();
  if (auto complaints = names::CheckPortNumber(port); !complaints.empty()) {
    errors.push_back(Invalid(path.Child("port"), port,
                             fmt::format("port is not valid: {}", fmt::join(complaints, ", "))));
  }
  const auto url_path = service["path"].AsString();
  if (url_path.empty() || url_path == "/") return;
  const Path at = path.Child("path");
  if (url_path == "//") {
    errors.push_back(Invalid(at, url_path, "segment[0] may not be empty"));
    return;
  }
  if (!url_path.starts_with('/')) errors.push_back(Invalid(at, url_path, "must start with a '/'"));
  auto rest = url_path.substr(1);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  for (size_t i = 0;; ++i) {
    const auto slash = rest.find('/');
    const auto step = rest.substr(0, slash);
    if (step.empty()) {
      errors.push_back(Invalid(at, url_path, fmt::format("segment[{}] may not be empty", i)));
    } else {
      for (const auto& complaint : names::CheckDns1123Subdomain(step)) {
        errors.push_back(Invalid(at, url_path, fmt::format("segment[{}]: {}", i, complaint)));
      }
    }
    if (slash == std::string_view::npos) return;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace keelson::rest
