#include "http/client_url.h"

#include <algorithm>
#include <charconv>

namespace keelson::http {
namespace {

constexpr size_t kMaxUrl = 64 * 1024;

bool Printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

bool IsHostName(std::string_view host) {
  return !host.empty() && std::ranges::all_of(host, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || c == ':';
  });
}

}  // namespace

Result<std::pair<std::string, uint16_t>> SplitHostPort(std::string_view text, uint16_t fallback) {
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    size_t end = text.find(']');
    if (end == std::string_view::npos) return Fail(ErrorCode::kInvalid, "missing ] in {}", text);
    host = text.substr(1, end - 1);
    auto rest = text.substr(end + 1);
    has_port = rest.starts_with(':');
    if (!has_port && !rest.empty()) return Fail(ErrorCode::kInvalid, "malformed host {}", text);
    if (has_port) port = rest.substr(1);
  } else if (size_t colon = text.find(':'); colon != std::string_view::npos) {
    has_port = true;
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.find(':') != std::string_view::npos) {
      return Fail(ErrorCode::kInvalid, "an IPv6 address needs brackets: {}", text);
    }
  }
  if (!IsHostName(host)) return Fail(ErrorCode::kInvalid, "malformed host {}", text);
  uint16_t number = fallback;
  if (has_port) {
    auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size() || number == 0) {
      return Fail(ErrorCode::kInvalid, "malformed port in {}", text);
    }
  }
  return std::pair(std::string(host), number);
}

Result<ClientUrl> ClientUrl::Parse(std::string_view url) {
  if (url.size() > kMaxUrl) return Fail(ErrorCode::kTooLarge, "URL of {} bytes", url.size());
  if (!Printable(url)) return Fail(ErrorCode::kInvalid, "URL with illegal characters");
  ClientUrl out;
  constexpr std::string_view kHttps = "https://", kHttp = "http://";
  if (url.starts_with(kHttps)) {
    out.tls = true;
    url.remove_prefix(kHttps.size());
  } else if (url.starts_with(kHttp)) {
    url.remove_prefix(kHttp.size());
  } else {
    return Fail(ErrorCode::kInvalid, "unsupported protocol scheme");
  }
  url = url.substr(0, url.find('#'));
  size_t end = std::min(url.find_first_of("/?"), url.size());
  auto authority = url.substr(0, end);
  auto target = url.substr(end);
  if (authority.find('@') != std::string_view::npos) {
    return Fail(ErrorCode::kInvalid, "URL with user information");
  }
  const uint16_t default_port = out.tls ? 443 : 80;
  TRY(auto host_port, SplitHostPort(authority, default_port));
  out.host = std::move(host_port.first);
  out.port = host_port.second;
  out.authority = out.host.find(':') == std::string::npos ? out.host : "[" + out.host + "]";
  if (out.port != default_port) out.authority += fmt::format(":{}", out.port);
  out.target = target.starts_with('/') ? std::string(target) : "/" + std::string(target);
  return out;
}

}  // namespace keelson::http
