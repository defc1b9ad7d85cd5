// "METHOD target" never crashes the reader, and what it reports lies within what was given.

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "server/request_info.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  auto space = input.find(' ');
  auto method = input.substr(0, space);
  auto target = space == std::string_view::npos ? std::string_view() : input.substr(space + 1);
  auto path = target.substr(0, target.find('?'));
  http::Query query(path.size() < target.size() ? target.substr(path.size() + 1) : "");
  server::RequestInfo info;
  auto parsed = server::ParseRequestInfo(method, path, query, info);
  auto inside = [&](std::string_view part) {
    return part.empty() || (!std::less<>()(part.data(), path.data()) &&
                            !std::less<>()(path.data() + path.size(), part.data() + part.size()));
  };
  if (!inside(info.api_group) || !inside(info.ns) || !inside(info.resource) ||
      !inside(info.subresource) || !inside(info.parts)) {
    std::abort();
  }
  if (parsed && info.is_resource_request && info.api_version.data() == nullptr) std::abort();
  if (parsed && info.is_resource_request && info.verb == "get" && info.name.empty()) std::abort();
  server::IsLongRunning(info);
  info.Part(3);
  return 0;
}
