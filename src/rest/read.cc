// The verbs that read: get, list and watch. Objects pass through as the finished bytes the cache
// keeps; a JSON list is a chain of slices, a JSON watch event a frame around one.

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/ids.h"
#include "rest/decode_body.h"
#include "rest/render.h"
#include "rest/resource.h"
#include "rest/versions.h"
#include "schema/decode_json.h"
#include "schema/protobuf.h"
#include "selector/field_selector.h"
#include "selector/label_selector.h"

namespace keelson::rest {
namespace {

using storage::WatchEvent;

// Watches that name no timeout end after half an hour to an hour, not all at once.
constexpr auto kMinWatch = std::chrono::minutes(30);

OutputRequest OutputRequestOf(const Request& request) {
  const auto& headers = request.exchange.request.headers;
  return {.accept = headers.Get("accept").value_or(""),
          .user_agent = headers.Get("user-agent").value_or(""),
          .raw_query = request.exchange.request.raw_query};
}

void SendBody(const Request& request, int code, const OutputMedia& media, std::vector<Slice> body) {
  request.response.headers().AddView("content-type", ContentTypeOf(media.format, false));
  request.response.Send(code, std::move(body));
}

std::string_view EventTypeName(WatchEvent::Type type) {
  switch (type) {
    case WatchEvent::Type::kAdded:
      return "ADDED";
    case WatchEvent::Type::kModified:
      return "MODIFIED";
    case WatchEvent::Type::kDeleted:
      return "DELETED";
    case WatchEvent::Type::kBookmark:
      return "BOOKMARK";
    case WatchEvent::Type::kError:
      return "ERROR";
  }
  return "";
}

}  // namespace

ResourceHandler::ResourceHandler(ResourceSpec spec)
    : spec_(Completed(std::move(spec))),
      status_type_(spec_.catalog->Find("meta.k8s.io", "v1")->FindType("Status")),
      partial_type_(spec_.catalog->Find("meta.k8s.io", "v1")->FindType("PartialObjectMetadata")),
      delete_options_type_(spec_.catalog->Find("meta.k8s.io", "v1")->FindType("DeleteOptions")) {
  KEELSON_CHECK(status_type_ && partial_type_ && delete_options_type_);
  for (const auto& field : spec_.info->selectable_fields) selectable_.push_back(field.label);
  list_opening_ =
      fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":")",
                  spec_.info->list_kind, ApiVersionText(spec_.info->group, spec_.info->version));
}

selector::FieldLabels ResourceHandler::field_labels() const {
  // Kinds with fields of their own refuse others in other words than those without.
  const bool plain = spec_.encoder->field_labels().empty();
  return {.supported = selectable_,
          .refusal =
              plain ? selector::FieldLabels::kGenericRefusal : selector::FieldLabels::kUnsupported};
}

ApiResult<OutputMedia> ResourceHandler::Negotiate(const Request& request, bool watch,
                                                  bool streaming) const {
  return NegotiateOutput(
      OutputRequestOf(request),
      {.table = false,  // no kind prints itself yet: clients fall back to the object
       .partial = !watch,
       .protobuf = !spec_.custom,
       .watch = watch,
       .streaming = streaming});
}

void ResourceHandler::Answer(const Request& request, int code, const Status& status) const {
  auto media = NegotiateOutput(OutputRequestOf(request), {.table = false, .partial = false});
  const OutputMedia form = media.value_or(OutputMedia{});
  if (status.details && status.details->retry_after_seconds > 0) {
    request.response.headers().Set("retry-after",
                                   std::to_string(status.details->retry_after_seconds));
  }
  auto json = Slice::Own(status.ToJson());
  auto body = RenderObject(*status_type_, json, form);
  SendBody(request, code, body ? form : OutputMedia{},
           body ? *std::move(body) : std::vector<Slice>{json, Slice::Static("\n")});
}

ApiResult<storage::ListOptions> ResourceHandler::StorageOptions(const Request& request,
                                                                const ListOptions& options) const {
  auto labels = selector::LabelSelector::Parse(options.label_selector);
  if (!labels) return std::unexpected(BadRequestStatus(labels.error().message));
  auto fields = selector::FieldSelector::Parse(options.field_selector);
  if (fields) fields = fields->Resolve(field_labels());
  if (!fields) return std::unexpected(BadRequestStatus(fields.error().message));
  return storage::ListOptions{
      .ns = std::string(request.ns),
      .name = std::string(request.name),
      .labels = *std::move(labels),
      .fields = *std::move(fields),
      .resource_version = options.resource_version,
      .resource_version_match = options.resource_version_match,
      .limit = options.limit,
      .continue_token = options.continue_token,
      .send_initial_events = options.send_initial_events,
      .allow_bookmarks = options.allow_watch_bookmarks,
  };
}

Task<void> ResourceHandler::Get(Request request) const {
  auto media = Negotiate(request);
  if (!media) co_return Refuse(request, media.error());
  auto options = ReadGetOptions(request.query);
  if (!options) co_return Refuse(request, options.error());
  if (spec_.computed != nullptr) co_return co_await GetComputed(request, *media);
  auto object = co_await spec_.store->Get(std::string(request.ns), std::string(request.name),
                                          options->resource_version);
  if (!object) co_return Refuse(request, object.error());
  SendObject(request, 200, *media, (*object)->Json());
}

void ResourceHandler::SendObject(const Request& request, int code, const OutputMedia& media,
                                 const Slice& json) const {
  auto shown = Shown(spec_, json);
  if (!shown) return Refuse(request, shown.error());
  SendShown(request, code, media, *shown);
}

void ResourceHandler::SendShown(const Request& request, int code, const OutputMedia& media,
                                const Slice& json) const {
  if (media.shape == Shape::kPartialObjectMetadata) {
    auto partial = PartialMetadataJson(json, media.beta_meta);
    if (!partial) return Refuse(request, partial.error());
    auto body = RenderObject(*partial_type_, *partial, media);
    return body ? SendBody(request, code, media, *std::move(body)) : Refuse(request, body.error());
  }
  auto body = RenderObject(spec_.type(), json, media);
  if (!body) return Refuse(request, body.error());
  SendBody(request, code, media, *std::move(body));
}

Task<void> ResourceHandler::List(Request request) const {
  auto options = ReadListOptions(request.query);
  if (!options) co_return Refuse(request, options.error());
  if (options->watch) co_return co_await Watch(std::move(request), *std::move(options));
  auto media = Negotiate(request, /*watch=*/true);
  if (!media) co_return Refuse(request, media.error());
  if (media->shape == Shape::kPartialObjectMetadata) {
    co_return Refuse(request, {.code = 406,
                               .reason = "NotAcceptable",
                               .message = fmt::format(
                                   "you requested PartialObjectMetadata, but the "
                                   "requested object is a list (*{}.{})",
                                   InternalPackage(spec_.info->group), spec_.info->list_kind)});
  }
  if (spec_.computed != nullptr) co_return co_await ListComputed(request, *media);
  auto stored = StorageOptions(request, *options);
  if (!stored) co_return Refuse(request, stored.error());
  auto list = co_await spec_.store->List(*std::move(stored));
  if (!list) co_return Refuse(request, list.error());
  SendList(request, *media, *std::move(list));
}

// The opening of the list up to its items.
std::string ResourceHandler::ListHead(const storage::ListResult& list) const {
  std::string head = list_opening_ + std::to_string(list.revision) + '"';
  if (!list.continue_token.empty()) {
    head += R"(,"continue":)";
    AppendJsonString(head, list.continue_token);
  }
  if (list.remaining) head += fmt::format(R"(,"remainingItemCount":{})", *list.remaining);
  return head + R"(},"items":[)";
}

void ResourceHandler::SendList(const Request& request, const OutputMedia& media,
                               storage::ListResult list) const {
  std::vector<Slice> body;
  body.push_back(Slice::Own(ListHead(list)));
  list.TakeItems(body);
  body.push_back(Slice::Static("]}"));
  if (media.format == Format::kJson && !media.pretty) {
    body.push_back(Slice::Static("\n"));
    return SendBody(request, 200, media, std::move(body));
  }
  auto rendered = RenderObject(*spec_.info->list_type, Slice::Own(Flatten(body)), media);
  if (!rendered) return Refuse(request, rendered.error());
  SendBody(request, 200, media, *std::move(rendered));
}

Task<void> ResourceHandler::Watch(Request request, ListOptions options) const {
  auto media = Negotiate(request, /*watch=*/true, /*streaming=*/true);
  if (!media) co_return Refuse(request, media.error());
  auto stored = StorageOptions(request, options);
  if (!stored) co_return Refuse(request, stored.error());
  const auto now = spec_.clock->Now();
  const auto length = options.timeout_seconds.value_or(0) > 0
                          ? Duration(std::chrono::seconds(*options.timeout_seconds))
                          : kMinWatch + Duration(RandomBelow(Duration(kMinWatch).count()));
  stored->deadline = now + length;
  auto watcher = co_await spec_.store->Watch(*std::move(stored));
  if (!watcher) co_return Refuse(request, watcher.error());
  request.response.headers().AddView("content-type", ContentTypeOf(media->format, true));
  request.response.Start(200);
  co_await Stream(request, *media, **watcher, now + length);
  request.response.Finish();
}

Task<void> ResourceHandler::Stream(Request request, OutputMedia media, storage::Watcher& watcher,
                                   TimePoint deadline) const {
  auto end = std::make_shared<std::stop_source>();
  std::stop_callback on_stop(request.stop, [end] { end->request_stop(); });
  const auto timer = spec_.clock->Schedule(deadline, [end] { end->request_stop(); });
  for (;;) {
    auto events = co_await watcher.Next(end->get_token());
    if (events.empty()) break;
    std::vector<Slice> frames;
    for (const auto& event : events) AppendEvent(event, media, frames);
    if (!co_await request.response.Write(std::move(frames))) break;
  }
  spec_.clock->Cancel(timer);
}

void ResourceHandler::AppendEvent(const WatchEvent& event, const OutputMedia& media,
                                  std::vector<Slice>& frames) const {
  if (media.format == Format::kJson) return storage::AppendFrame(event, frames);
  const auto& type = event.type == WatchEvent::Type::kError ? *status_type_ : *spec_.info->type;
  const Slice json = event.object ? event.object->Json() : event.text;
  auto decoded = schema::DecodeJson(type, json.view());
  KEELSON_CHECK(decoded.has_value());  // the cache holds only what was decoded by this type
  auto bytes = schema::EncodeProtobufEnvelope(type, decoded->object.root());
  frames.push_back(
      Slice::Own(schema::ProtobufWatchHeader(EventTypeName(event.type), bytes.size())));
  frames.push_back(Slice::Own(std::move(bytes)));
}

}  // namespace keelson::rest
