#pragma once

// One resource at one version, and the verbs on it.
//
// A ResourceHandler is made once per served resource and version, is immutable and shared by all io
// threads. Every verb answers the request completely, failures included; a task returned here never
// throws for a reason of the client's.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "auth/authorizer.h"
#include "auth/user.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/task.h"
#include "http/exchange.h"
#include "http/query.h"
#include "patch/ownership.h"
#include "rest/form_cache.h"
#include "rest/media_type.h"
#include "rest/object_image.h"
#include "rest/object_shape.h"
#include "rest/options.h"
#include "rest/projection.h"
#include "rest/strategy.h"
#include "rest/table.h"
#include "schema/resource.h"
#include "schema/transform.h"
#include "selector/field_selector.h"
#include "storage/object_store.h"

namespace keelson::rest {

// A request on a resource, as the pipeline hands it over. Everything outlives the verb's task.
struct Request {
  http::Exchange& exchange;
  http::ResponseWriter& response;
  const http::Query& query;
  WarningSink& warnings;
  std::string_view ns;
  std::string_view name;
  std::string_view subresource;
  std::string_view path;  // behind the subresource, for those that take one (proxy)
  bool watch = false;     // asked for by the path, whatever the parameters say
  auth::UserPtr user;
  // Requested when the answer must end early: client gone, deadline, server stopping (watches).
  std::stop_token stop;
};

class Subresource;

// The stores of one API, for code that works on other kinds' objects.
class ObjectStores {
 public:
  virtual ~ObjectStores() = default;
  // Null when there is no such stored resource.
  virtual storage::ObjectStore* FindStore(std::string_view group,
                                          std::string_view resource) const = 0;
};

// The objects of a kind that are computed when somebody asks.
class ComputedObjects {
 public:
  virtual ~ComputedObjects() = default;
  // All of them, canonical.
  virtual Task<ApiResult<std::vector<value::Document>>> List() const = 0;
  virtual Status NotFound(std::string_view name) const = 0;
};

// How often upstream looks at the metadata of a changed object besides once for all kinds, which
// shows in its answers: they name a problem each time it is met.
struct MetadataChecks {
  uint8_t whole = 0;   // by the rules for new objects
  uint8_t change = 1;  // by the rules for changes
};

// Everything an endpoint is made of. A resource has one, and so has each of its subresources: the
// same store under another strategy, projection or handler.
struct ResourceSpec {
  const schema::Catalog* catalog = nullptr;
  const schema::ResourceInfo* info = nullptr;
  const Strategy* strategy = nullptr;
  const schema::DefaultHooks* defaults = nullptr;  // conditional defaults of nested types
  const TablePrinter* printer = nullptr;           // null: tables show name and age alone
  FormCache* forms = nullptr;  // shared protobuf messages; null encodes for every reader
  const ImageEncoder* encoder = nullptr;
  storage::ObjectStore* store = nullptr;  // null for kinds that are not stored
  Clock* clock = nullptr;
  bool custom = false;          // no protobuf, no strategic merge patch; list items keep their type
  bool stored_as_json = false;  // by upstream, whose protobuf loses empty lists

  const admission::Chain* admission = nullptr;  // null admits everything
  auth::Authorizer* authorizer = nullptr;       // for updates that create; null allows everything
  const ObjectStores* stores = nullptr;
  const schema::ResourceInfo* stored = nullptr;      // the version that is stored; null: this one
  const schema::Subresource* subresource = nullptr;  // null for the resource itself
  const Projection* projection = nullptr;            // null shows what is stored
  const Subresource* handler = nullptr;              // computes instead of storing
  const ComputedObjects* computed = nullptr;
  std::shared_ptr<const patch::Ownership> ownership;  // made by the handler
  std::string_view deprecation;                       // what every request is warned of
  MetadataChecks metadata_checks;
  bool allow_privileged = true;    // see WriteScope
  std::string_view field_refusal;  // of unknown field labels; empty: as most kinds word it

  const schema::Type& stored_type() const { return *(stored != nullptr ? stored : info)->type; }
  // Of bodies and answers.
  const schema::Type& type() const;
  schema::GroupVersionKind kind() const;
  schema::VerbSet verbs() const { return subresource ? subresource->verbs : info->verbs; }

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
  Task<void> Patch(Request request) const;
  Task<void> Delete(Request request) const;
  Task<void> DeleteCollection(Request request) const;
  // Hands the request to the subresource's own handler.
  Task<void> Connect(Request request) const;

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
  // What the request sees of objects, given as they are stored or as the endpoint shows them.
  ApiResult<ObjectShape> ShapeOf(const Request& request, const OutputMedia& media,
                                 bool stored = true) const;
  // The type of what a shape shows.
  const schema::Type& TypeOf(const OutputMedia& media, bool list) const;
  // An object as it is stored.
  void SendObject(const Request& request, int code, const OutputMedia& media,
                  const Slice& json) const;
  // An object as the endpoint shows it.
  void SendShown(const Request& request, int code, const OutputMedia& media,
                 const Slice& json) const;
  void SendAs(const Request& request, int code, const OutputMedia& media, const Slice& json,
              bool stored) const;
  Task<void> SendList(Request request, OutputMedia media, storage::ListResult list) const;
  Task<void> SendProtobufList(Request request, OutputMedia media, ObjectShape shape,
                              storage::ListResult list) const;
  // The message of an object as the request sees it.
  ApiResult<Slice> MessageOf(const storage::CachedObject& object, const OutputMedia& media,
                             ObjectShape& shape) const;
  Task<void> Stream(Request request, OutputMedia media, ObjectShape shape,
                    storage::Watcher& watcher, TimePoint deadline) const;
  WriteScope ScopeOf(const Request& request, const WriteOptions& options) const;
  // The body as an object of this kind, defaults filled in.
  Task<ApiResult<value::Document>> ReadObject(Request request, FieldValidation validation) const;
  Task<ApiResult<DeleteOptions>> ReadDeleteRequest(Request request) const;
  ApiResult<DeleteOptions> DecodeDeleteOptions(const Request& request, std::string_view body) const;
  Task<void> Respond(Request request, OutputMedia media, WriteOptions options, WriteScope scope,
                     value::Document object) const;
  Task<void> GetComputed(Request request, OutputMedia media) const;
  Task<void> ListComputed(Request request, OutputMedia media, ListOptions options) const;
  ApiResult<void> AppendProtobufEvent(const storage::WatchEvent& event, const OutputMedia& media,
                                      ObjectShape& shape, Body& body) const;

  const ResourceSpec spec_;
  const schema::Type* status_type_;
  const schema::Type* partial_type_;
  const schema::Type* partial_list_type_;
  const schema::Type* delete_options_type_;
  std::vector<std::string_view> selectable_;
  const TableLayout table_;
};

// The spec with what follows from it filled in.
ResourceSpec Completed(ResourceSpec spec);

}  // namespace keelson::rest
