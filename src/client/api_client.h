#pragma once

// The verbs, for one server.
//
// What a server refuses is the Status it sent; when no answer came at all, one with code 0 and the
// reason as its message.

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/task.h"
#include "client/resource_path.h"
#include "client/transport.h"
#include "client/watch_stream.h"
#include "value/document.h"

namespace keelson::client {

struct ListOptions {
  std::string resource_version;  // "0": whatever the server has at hand
  std::string label_selector;
  std::string field_selector;
  int64_t limit = 0;
  std::string continue_token;
};

struct WatchOptions {
  std::string resource_version;
  std::string label_selector;
  std::string field_selector;
  Duration timeout = Duration::zero();  // after which the server is to end it
};

enum class PatchType : uint8_t { kJson, kMerge, kStrategicMerge, kApply };

class ApiClient {
 public:
  static constexpr size_t kMaxAnswer = size_t{1} << 30;

  // `transport` outlives it.
  explicit ApiClient(Transport& transport) : transport_(transport) {}

  Task<ApiResult<value::Document>> Get(std::string path, std::stop_token stop = {});
  Task<ApiResult<value::Document>> List(Resource resource, std::string ns, ListOptions options = {},
                                        std::stop_token stop = {});
  Task<ApiResult<value::Document>> Create(std::string path, value::Document object);
  Task<ApiResult<value::Document>> Update(std::string path, value::Document object);
  Task<ApiResult<value::Document>> Patch(std::string path, PatchType type, std::string body);
  Task<ApiResult<value::Document>> Delete(std::string path);
  // With bookmarks.
  Task<ApiResult<WatchStream>> Watch(Resource resource, std::string ns, WatchOptions options,
                                     std::stop_token stop = {});

 private:
  Task<ApiResult<std::unique_ptr<Answer>>> Send(Call call);
  Task<ApiResult<value::Document>> Ask(Call call);

  Transport& transport_;
};

// A Status object as JSON holds it; `code` when it has none.
Status StatusOf(const value::Value& object, int code);
// For failures on the way.
Status NoAnswer(const Error& error);
inline bool IsExpired(const Status& status) {
  return status.code == 410 || status.reason == "Expired" || status.reason == "Gone";
}

}  // namespace keelson::client
