#include "client/api_client.h"

#include <fmt/format.h>

#include <utility>

#include "value/json.h"

namespace keelson::client {
namespace {

constexpr size_t kMaxRefusal = size_t{1} << 20;

std::string Number(int64_t number) { return number > 0 ? fmt::format("{}", number) : ""; }

std::string_view ContentType(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return "";
}

Call WithObject(std::string method, std::string path, const value::Document& object) {
  return {.method = std::move(method),
          .target = std::move(path),
          .content_type = "application/json",
          .body = value::ToJson(object.root())};
}

}  // namespace

Status StatusOf(const value::Value& object, int code) {
  Status status{.code = code,
                .reason = std::string(object["reason"].AsString()),
                .message = std::string(object["message"].AsString())};
  if (const auto own = object["code"].AsInt(); own != 0) status.code = static_cast<int>(own);
  if (const auto details = object["details"]; details.is_object()) {
    auto& out = status.details.emplace();
    out.name = details["name"].AsString();
    out.group = details["group"].AsString();
    out.kind = details["kind"].AsString();
    out.uid = details["uid"].AsString();
    out.retry_after_seconds = static_cast<int32_t>(details["retryAfterSeconds"].AsInt());
    for (const auto& cause : details["causes"].items()) {
      out.causes.push_back({std::string(cause["reason"].AsString()),
                            std::string(cause["message"].AsString()),
                            std::string(cause["field"].AsString())});
    }
  }
  return status;
}

Status NoAnswer(const Error& error) { return {.code = 0, .message = error.message}; }

Task<ApiResult<std::unique_ptr<Answer>>> ApiClient::Send(Call call) {
  auto answer = co_await transport_.Send(std::move(call));
  if (!answer) co_return std::unexpected(NoAnswer(answer.error()));
  const int code = (*answer)->status();
  if (code >= 200 && code < 300) co_return std::move(*answer);
  auto text = co_await (*answer)->body().ReadAll(kMaxRefusal);
  if (!text) co_return std::unexpected(NoAnswer(text.error()));
  auto body = value::ParseJson(*text);
  if (body && body->root()["kind"].AsString() == "Status") {
    co_return std::unexpected(StatusOf(body->root(), code));
  }
  co_return std::unexpected(Status{.code = code, .message = std::move(*text)});
}

Task<ApiResult<value::Document>> ApiClient::Ask(Call call) {
  CO_TRY(auto answer, co_await Send(std::move(call)));
  auto text = co_await answer->body().ReadAll(kMaxAnswer);
  if (!text) co_return std::unexpected(NoAnswer(text.error()));
  auto body = value::ParseJson(*text);
  if (!body) co_return std::unexpected(InternalErrorStatus(body.error().message));
  co_return *std::move(body);
}

Task<ApiResult<value::Document>> ApiClient::Get(std::string path, std::stop_token stop) {
  return Ask({.target = std::move(path), .stop = std::move(stop)});
}

Task<ApiResult<value::Document>> ApiClient::List(Resource resource, std::string ns,
                                                 ListOptions options, std::stop_token stop) {
  // A page goes on in the version it began in.
  if (!options.continue_token.empty()) options.resource_version.clear();
  auto target = resource.Path(ns) + QueryText({{"resourceVersion", options.resource_version},
                                               {"labelSelector", options.label_selector},
                                               {"fieldSelector", options.field_selector},
                                               {"limit", Number(options.limit)},
                                               {"continue", options.continue_token}});
  return Ask({.target = std::move(target), .stop = std::move(stop)});
}

Task<ApiResult<value::Document>> ApiClient::Create(std::string path, value::Document object) {
  return Ask(WithObject("POST", std::move(path), object));
}

Task<ApiResult<value::Document>> ApiClient::Update(std::string path, value::Document object) {
  return Ask(WithObject("PUT", std::move(path), object));
}

Task<ApiResult<value::Document>> ApiClient::Patch(std::string path, PatchType type,
                                                  std::string body) {
  return Ask({.method = "PATCH",
              .target = std::move(path),
              .content_type = std::string(ContentType(type)),
              .body = std::move(body)});
}

Task<ApiResult<value::Document>> ApiClient::Delete(std::string path) {
  return Ask({.method = "DELETE", .target = std::move(path)});
}

Task<ApiResult<WatchStream>> ApiClient::Watch(Resource resource, std::string ns,
                                              WatchOptions options, std::stop_token stop) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.timeout).count();
  Call call{.target = resource.Path(ns) + QueryText({{"watch", "true"},
                                                     {"allowWatchBookmarks", "true"},
                                                     {"resourceVersion", options.resource_version},
                                                     {"labelSelector", options.label_selector},
                                                     {"fieldSelector", options.field_selector},
                                                     {"timeoutSeconds", Number(seconds)}}),
            .stop = std::move(stop)};
  CO_TRY(auto answer, co_await Send(std::move(call)));
  co_return WatchStream(std::move(answer));
}

}  // namespace keelson::client
