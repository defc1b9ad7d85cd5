#pragma once

// One resource at one version, and the verbs on it.
//
// A ResourceHandler is made once per served resource and version, is immutable and shared by all io
// threads. Every verb answers the request completely, failures included; a task returned here never
// throws for a reason of the client's.

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "base/task.h"
#include "http/exchange.h"
#include "http/query.h"
#include "rest/media_type.h"
#include "rest/object_image.h"
#include "rest/options.h"
#include "rest/strategy.h"
#include "schema/resource.h"
#include "selector/field_selector.h"
#include "storage/object_store.h"

namespace keelson::rest {

// A request on a resource, as the pipeline hands it over. Everything outlives the verb's task.
struct Request {
  http::Exchange& exchange;
  http::ResponseWriter& response;
  const http::Query& query;
  std::string_view ns;
  std::string_view name;
  std::string_view subresource;
  // Requested when the answer must end early: client gone, deadline, server stopping (watches).
  std::stop_token stop;
  // When a watch that names no timeout ends.
  std::optional<TimePoint> deadline;
};

struct ResourceSpec {
  const schema::Catalog* catalog = nullptr;
  const schema::ResourceInfo* info = nullptr;
  const Strategy* strategy = nullptr;
  const ImageEncoder* encoder = nullptr;
  storage::ObjectStore* store = nullptr;
  Clock* clock = nullptr;
  bool custom = false;  // no protobuf, no strategic merge patch; list items keep their type

  GroupResource group_resource() const {
    return {std::string(info->group), std::string(info->plural)};
  }
};

class ResourceHandler {
 public:
  explicit ResourceHandler(ResourceSpec spec);

  Task<void> Get(Request request) const;
  Task<void> List(Request request) const;
  Task<void> Watch(Request request, ListOptions options) const;

  const ResourceSpec& spec() const { return spec_; }

 private:
  OutputOffer Offer(bool watch, bool streaming) const;
  selector::FieldLabels field_labels() const;
  ApiResult<storage::ListOptions> StorageOptions(const Request& request,
                                                 const ListOptions& options) const;
  // Answers with a Status in the form the client accepts, JSON when it accepts none.
  void Refuse(const Request& request, const Status& status) const;
  void SendObject(const Request& request, int code, const OutputMedia& media,
                  const Slice& json) const;
  std::string ListHead(const storage::ListResult& list) const;
  void SendList(const Request& request, const OutputMedia& media, storage::ListResult list) const;
  Task<void> Stream(Request request, OutputMedia media, storage::Watcher& watcher,
                    TimePoint deadline) const;
  void AppendEvent(const storage::WatchEvent& event, const OutputMedia& media,
                   std::vector<Slice>& frames) const;

  const ResourceSpec spec_;
  const schema::Type* status_type_;
  const schema::Type* partial_type_;
  std::vector<std::string_view> selectable_;
  std::string list_opening_;  // {"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"
};

}  // namespace keelson::rest
