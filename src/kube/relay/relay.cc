#include "kube/relay/relay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <stop_token>
#include <utility>

#include "base/gate.h"

namespace keelson::kube {
namespace {

// They concern one connection, not the message (RFC 9110, 7.6.1).
constexpr std::string_view kHopByHop[] = {"connection",
                                          "proxy-connection",
                                          "keep-alive",
                                          "proxy-authenticate",
                                          "proxy-authorization",
                                          "te",
                                          "trailer",
                                          "transfer-encoding",
                                          "upgrade"};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

bool IsHopByHop(std::string_view name) {
  return std::ranges::find(kHopByHop, Lower(name)) != std::end(kHopByHop);
}

std::string UrlOf(const RelayTarget& target) {
  return target.origin + target.path + (target.query.empty() ? "" : "?") + target.query;
}

std::string ForwardedFor(const http::Request& request) {
  std::string_view address = request.connection != nullptr
                                 ? std::string_view(request.connection->remote_address)
                                 : std::string_view();
  address = address.substr(0, address.rfind(':'));
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  const auto before = request.headers.Get("x-forwarded-for").value_or("");
  return before.empty() ? std::string(address) : fmt::format("{}, {}", before, address);
}

// What goes on to the other side; `keep` lists per-connection fields that are wanted all the same.
void CopyRequestHeaders(const http::Request& from, http::Headers& to) {
  for (const auto& field : from.headers.fields()) {
    if (IsHopByHop(field.name) || field.name == "host" || field.name == "content-length" ||
        field.name == "x-forwarded-for") {
      continue;
    }
    to.Add(field.name, field.value);
  }
  if (auto forwarded = ForwardedFor(from); !forwarded.empty()) to.Add("x-forwarded-for", forwarded);
}

void CopyResponseHeaders(const http::Headers& from, http::Headers& to) {
  for (const auto& field : from.fields()) {
    if (IsHopByHop(field.name) || Lower(field.name) == "content-length") continue;
    // What the server says of its own answers does not hold for somebody else's.
    if (Lower(field.name) == "cache-control") to.Remove("cache-control");
    to.Add(field.name, field.value);
  }
}

// Both ends of a tunnel. Kept alive by whoever may still close it.
struct Ends {
  std::unique_ptr<http::ByteStream> client;
  std::unique_ptr<http::ByteStream> target;

  void Close() const {
    client->Close();
    target->Close();
  }
};

Task<void> Pump(std::shared_ptr<Ends> ends, bool to_target) {
  auto& from = to_target ? *ends->client : *ends->target;
  auto& to = to_target ? *ends->target : *ends->client;
  for (;;) {
    auto piece = co_await from.Read();
    if (!piece || piece->empty()) break;
    if (!co_await to.Write(*std::move(piece))) break;
  }
  // As upstream: when one direction is done, so is the tunnel.
  ends->Close();
}

Task<void> Tunnel(std::shared_ptr<Ends> ends, Executor* executor, std::stop_token stop) {
  std::stop_callback on_stop(stop, [ends, executor] { executor->Post([ends] { ends->Close(); }); });
  Gate other;
  other.Spawn(executor, Pump(ends, /*to_target=*/true));
  co_await Pump(ends, /*to_target=*/false);
  co_await other.Close();
}

Task<void> PassBody(const rest::Request& request, http::BodyReader& body) {
  for (;;) {
    auto piece = co_await body.Read();
    if (!piece) co_return request.response.Abort();
    if (piece->empty()) break;
    std::vector<Slice> slices;
    slices.push_back(*std::move(piece));
    if (!co_await request.response.Write(std::move(slices))) co_return;
  }
  request.response.Finish();
}

bool IsUnreserved(unsigned char c) {
  return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~';
}

std::string Escape(std::string_view text, std::string_view also, bool plus) {
  std::string out;
  for (unsigned char c : text) {
    if (IsUnreserved(c) || also.find(static_cast<char>(c)) != std::string_view::npos) {
      out += static_cast<char>(c);
    } else if (c == ' ' && plus) {
      out += '+';
    } else {
      out += fmt::format("%{:02X}", c);
    }
  }
  return out;
}

}  // namespace

void SendStatus(const rest::Request& request, const Status& status) {
  request.response.headers().Set("content-type", "application/json");
  std::vector<Slice> body;
  body.push_back(Slice::Own(status.ToJson() + "\n"));
  request.response.Send(status.code, std::move(body));
}

std::string_view WithoutUrl(std::string_view message) {
  const auto end = message.find("\": ");
  const auto begin = message.find('"');
  return end == message.npos || begin >= end ? message : message.substr(end + 3);
}

std::string EscapePath(std::string_view path) { return Escape(path, "$&+,/:;=@", false); }
std::string EscapeQuery(std::string_view text) { return Escape(text, "", true); }

bool AsksForUpgrade(const http::Request& request) {
  for (auto value : request.headers.GetAll("connection")) {
    if (Lower(value).find("upgrade") != std::string::npos) return true;
  }
  return false;
}

Task<void> RelayUpgrade(rest::Request request, http::Client& client, RelayTarget target) {
  const auto& asked = request.exchange.request;
  http::ClientRequest forward{.method = std::string(asked.method),
                              .url = UrlOf(target),
                              .stop = request.stop,
                              .upgrade = std::string(asked.headers.Get("upgrade").value_or(""))};
  CopyRequestHeaders(asked, forward.headers);
  auto answer = co_await client.Send(std::move(forward));
  if (!answer) {
    co_return SendStatus(request, {.code = 500,
                                   .message = fmt::format("error dialing backend: {}",
                                                          WithoutUrl(answer.error().message))});
  }
  const int code = answer->status();
  if (code != 101 && code < 400) {
    co_return SendStatus(
        request,
        {.code = 500, .message = fmt::format("invalid upgrade response: status code {}", code)});
  }
  CopyResponseHeaders(answer->headers(), request.response.headers());
  if (code != 101) {
    request.response.CloseConnection();
    request.response.Start(code);
    co_return co_await PassBody(request, answer->body());
  }
  for (auto name : {"upgrade", "connection"}) {
    if (auto value = answer->headers().Get(name)) request.response.headers().Set(name, *value);
  }
  auto stream = co_await request.response.Upgrade();
  if (!stream) co_return;
  auto ends = std::make_shared<Ends>(Ends{*std::move(stream), answer->TakeStream()});
  co_await Tunnel(std::move(ends), request.exchange.executor, request.stop);
}

Task<void> RelayPlain(rest::Request request, http::Client& client, RelayTarget target,
                      std::string prefix) {
  const auto& asked = request.exchange.request;
  http::ClientRequest forward{
      .method = std::string(asked.method), .url = UrlOf(target), .stop = request.stop};
  CopyRequestHeaders(asked, forward.headers);
  forward.headers.Set("x-forwarded-uri", prefix + target.path);
  forward.headers.Set("x-forwarded-host", asked.host);
  forward.headers.Set("x-forwarded-proto", "https");
  if (asked.content_length.value_or(1) != 0) forward.body_stream = request.exchange.body;
  auto answer = co_await client.Send(std::move(forward));
  if (!answer && answer.error().code == ErrorCode::kDenied) {
    co_return SendStatus(request, BadRequestStatus("address not allowed"));
  }
  if (!answer) {
    co_return SendStatus(request, {.code = 503,
                                   .reason = "ServiceUnavailable",
                                   .message = fmt::format("error trying to reach service: {}",
                                                          WithoutUrl(answer.error().message))});
  }
  auto& headers = request.response.headers();
  CopyResponseHeaders(answer->headers(), headers);
  if (auto location = answer->headers().Get("location")) {
    headers.Set("location", RewriteLocation(*location, target.origin, asked.host, prefix));
  }
  request.response.Start(answer->status());
  co_await PassBody(request, answer->body());
}

std::string RewriteLocation(std::string_view location, std::string_view origin,
                            std::string_view client_host, std::string_view prefix) {
  std::string_view path = location;
  if (auto scheme = location.find("://"); scheme != location.npos) {
    const auto rest = location.substr(scheme + 3);
    const auto slash = std::min(rest.find('/'), rest.size());
    const auto host = rest.substr(0, slash);
    if (host != origin.substr(origin.find("://") + 3) && host != client_host) {
      return std::string(location);
    }
    path = rest.substr(slash);
  }
  if (!path.starts_with('/')) return std::string(location);
  const bool there = path.starts_with(prefix);
  return fmt::format("https://{}{}{}", client_host, there ? "" : prefix, path);
}

}  // namespace keelson::kube
