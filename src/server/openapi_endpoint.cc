#include "server/openapi_endpoint.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include "rest/media_type.h"
#include "server/compression.h"

namespace keelson::server {
namespace {

using Form = OpenApiDocuments::Form;

constexpr std::string_view kPrefix = "/openapi/v3/";

// In the order in which they are tried; the second protobuf name is the one of old clients.
constexpr std::string_view kTypesV2[] = {
    "application/json",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
};
constexpr std::string_view kTypesV3[] = {
    "application/json",
    "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
};
constexpr std::string_view kProtobufV2 = kTypesV2[2];
constexpr std::string_view kProtobufV3 = kTypesV3[1];

std::string HttpDate(WallTime time, const char* zone) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm broken{};
  gmtime_r(&seconds, &broken);
  char text[32];
  const size_t size = strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S ", &broken);
  return std::string(text, size) + zone;
}

// Whether one of the listed tags is this one, or any will do.
bool NamesTag(std::string_view list, std::string_view tag) {
  while (!list.empty()) {
    auto item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item == tag || item == "*") return true;
  }
  return false;
}

class OpenApiV2 final : public Endpoint {
 public:
  explicit OpenApiV2(std::shared_ptr<OpenApiDocuments> documents)
      : documents_(std::move(documents)) {}
  Pending Serve(RequestContext& context) override;

 private:
  Task<void> Answer(RequestContext& context, Form form);
  const std::shared_ptr<OpenApiDocuments> documents_;
};

class OpenApiIndex final : public Endpoint {
 public:
  OpenApiIndex(std::shared_ptr<OpenApiDocuments> documents, const Clock& clock)
      : documents_(std::move(documents)), clock_(clock) {}
  Pending Serve(RequestContext& context) override { return Answer(context); }

 private:
  Task<void> Answer(RequestContext& context);
  const std::shared_ptr<OpenApiDocuments> documents_;
  const Clock& clock_;
};

class OpenApiV3 final : public Endpoint {
 public:
  OpenApiV3(std::shared_ptr<OpenApiDocuments> documents, const Clock& clock)
      : documents_(std::move(documents)), clock_(clock) {}
  Pending Serve(RequestContext& context) override;

 private:
  Task<void> Answer(RequestContext& context, std::string name, Form form);
  const std::shared_ptr<OpenApiDocuments> documents_;
  const Clock& clock_;
};

// Sends what was asked for, or 304 when the client has it already.
void SendDocument(RequestContext& context, std::string_view type, bool compressed,
                  OpenApiDocuments::Document document) {
  auto& headers = context.response.headers();
  const std::string tag = "\"" + document.hash + "\"";
  headers.Set("etag", tag);
  if (NamesTag(context.request.headers.Get("if-none-match").value_or(""), tag)) {
    headers.Remove("content-type");
    context.response.Send(304, {});
    return;
  }
  headers.Set("content-type", type);
  headers.Set("last-modified", HttpDate(document.modified, "GMT"));
  if (compressed) headers.Set("content-encoding", "gzip");
  context.response.Send(200, {std::move(document.body)});
}

Pending OpenApiV2::Serve(RequestContext& context) {
  context.response.headers().Add("vary", "Accept-Encoding");
  context.response.headers().Add("vary", "Accept");
  auto picked = rest::PickMediaType(context.request.headers.Get("accept").value_or(""), kTypesV2);
  if (!picked) {
    context.response.Send(406, {});
    return std::nullopt;
  }
  return Answer(context, *picked == 0 ? Form::kJson : Form::kProtobuf);
}

Task<void> OpenApiV2::Answer(RequestContext& context, Form form) {
  const bool compressed = AcceptsGzip(context.request);
  auto document =
      co_await documents_->Get(std::string(OpenApiDocuments::kVersion2), form, compressed);
  if (!document) co_return context.response.Send(503, {});
  SendDocument(context, form == Form::kJson ? kTypesV2[0] : kProtobufV2, compressed,
               *std::move(document));
}

Task<void> OpenApiIndex::Answer(RequestContext& context) {
  auto index = co_await documents_->Index();
  auto& headers = context.response.headers();
  // Upstream's aggregator does not say that this is JSON, and gives it the time of the request.
  headers.Set("content-type", "text/plain; charset=utf-8");
  headers.Set("last-modified", HttpDate(clock_.WallNow(), "GMT"));
  context.response.Send(200, {std::move(index)});
}

Pending OpenApiV3::Serve(RequestContext& context) {
  auto name = context.path.substr(kPrefix.size());
  if (name.empty()) {
    context.response.Send(404, {});
    return std::nullopt;
  }
  context.response.headers().Add("vary", "Accept");
  auto picked = rest::PickMediaType(context.request.headers.Get("accept").value_or(""), kTypesV3);
  if (!picked) {
    context.response.Send(406, {});
    return std::nullopt;
  }
  return Answer(context, std::string(name), *picked == 0 ? Form::kJson : Form::kProtobuf);
}

Task<void> OpenApiV3::Answer(RequestContext& context, std::string name, Form form) {
  const bool compressed = AcceptsGzip(context.request);
  auto document = co_await documents_->Get(name, form, compressed);
  if (!document && document.error().code == ErrorCode::kNotFound) {
    context.response.headers().Remove("vary");
    co_return context.response.Send(404, {});
  }
  if (!document) co_return context.response.Send(503, {});
  const auto type = form == Form::kJson ? kTypesV3[0] : kProtobufV3;
  auto& headers = context.response.headers();
  auto hash = context.query().Get("hash").value_or("");
  if (!hash.empty() && hash != document->hash) {
    headers.Set("content-type", type);
    headers.Set("etag", "\"" + document->hash + "\"");
    headers.Set("location", fmt::format("{}{}?hash={}", kPrefix, name, document->hash));
    co_return context.response.Send(301, {});
  }
  if (!hash.empty()) {
    headers.Set("cache-control", "public, immutable");
    headers.Set("expires", HttpDate(clock_.WallNow() + std::chrono::years(1), "UTC"));
  }
  if (compressed) headers.Add("vary", "Accept-Encoding");
  SendDocument(context, type, compressed, *std::move(document));
}

}  // namespace

void InstallOpenApi(PathMux& mux, std::shared_ptr<OpenApiDocuments> documents, const Clock& clock) {
  mux.Handle("/openapi/v2", std::make_shared<OpenApiV2>(documents));
  mux.Handle("/openapi/v3", std::make_shared<OpenApiIndex>(documents, clock));
  mux.HandlePrefix(std::string(kPrefix), std::make_shared<OpenApiV3>(documents, clock));
}

}  // namespace keelson::server
