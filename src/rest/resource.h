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
#include "schema/transform.h"
#include "selector/field_selector.h"
#include "storage/object_store.h"

namespace keelson::rest {

// Takes the sentences that become Warning headers.
class WarningSink {
 public:
  virtual ~WarningSink() = default;
  virtual void Warn(std::string_view text) = 0;
};

// A request on a resource, as the pipeline hands it over. Everything outlives the verb's task.
struct Request {
  http::Exchange& exchange;
  http::ResponseWriter& response;
  const http::Query& query;
  WarningSink& warnings;
  std::string_view ns;
  std::string_view name;
  std::string_view subresource;
  // Requested when the answer must end early: client gone, deadline, server stopping (watches).
  std::stop_token stop;
};

struct ResourceSpec {
  const schema::Catalog* catalog = nullptr;
  const schema::ResourceInfo* info = nullptr;
  const Strategy* strategy = nullptr;
  const schema::DefaultHooks* defaults = nullptr;  // conditional defaults of nested types
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
  Task<void> Create(Request request) const;
  Task<void> Update(Request request) const;
  Task<void> Delete(Request request) const;

  const ResourceSpec& spec() const { return spec_; }

 private:
  ApiResult<OutputMedia> Negotiate(const Request& request, bool watch = false,
                                   bool streaming = false) const;
  selector::FieldLabels field_labels() const;
  ApiResult<storage::ListOptions> StorageOptions(const Request& request,
                                                 const ListOptions& options) const;
  // Answers with a Status in the form the client accepts, JSON when it accepts none.
  void Answer(const Request& request, int code, const Status& status) const;
  void Refuse(const Request& request, const Status& status) const {
    Answer(request, status.code, status);
  }
  void SendObject(const Request& request, int code, const OutputMedia& media,
                  const Slice& json) const;
  std::string ListHead(const storage::ListResult& list) const;
  void SendList(const Request& request, const OutputMedia& media, storage::ListResult list) const;
  Task<void> Stream(Request request, OutputMedia media, storage::Watcher& watcher,
                    TimePoint deadline) const;
  WriteScope ScopeOf(const Request& request, bool dry_run) const;
  // The body as an object of this kind, defaults filled in.
  Task<ApiResult<value::Document>> ReadObject(Request request, FieldValidation validation) const;
  ApiResult<DeleteOptions> DecodeDeleteOptions(const Request& request, std::string_view body) const;
  Task<void> AnswerDryCreate(Request request, OutputMedia media, std::string name,
                             Slice json) const;
  void AppendEvent(const storage::WatchEvent& event, const OutputMedia& media,
                   std::vector<Slice>& frames) const;

  const ResourceSpec spec_;
  const schema::Type* status_type_;
  const schema::Type* partial_type_;
  const schema::Type* delete_options_type_;
  std::vector<std::string_view> selectable_;
  std::string list_opening_;  // {"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"
};

}  // namespace keelson::rest
