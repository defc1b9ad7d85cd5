// The verbs that read: get, list and watch. Objects pass through as the finished bytes the cache
// keeps; a JSON list is a chain of slices, a JSON watch event a frame around one.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/ids.h"
#include "rest/answer_stream.h"
#include "rest/decode_body.h"
#include "rest/protobuf_form.h"
#include "rest/render.h"
#include "rest/resource.h"
#include "rest/versions.h"
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
  auto& headers = request.response.headers();
  request.response.Send(code, MaybeCompress(request.exchange.request, headers, std::move(body)));
}

Status NotAcceptable(std::string message) {
  return {.code = 406, .reason = "NotAcceptable", .message = std::move(message)};
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
      partial_list_type_(
          spec_.catalog->Find("meta.k8s.io", "v1")->FindType("PartialObjectMetadataList")),
      delete_options_type_(spec_.catalog->Find("meta.k8s.io", "v1")->FindType("DeleteOptions")),
      table_(*spec_.info, spec_.printer) {
  KEELSON_CHECK(status_type_ && partial_type_ && partial_list_type_ && delete_options_type_);
  for (const auto& field : spec_.info->selectable_fields) selectable_.push_back(field.label);
}

selector::FieldLabels ResourceHandler::field_labels() const {
  // Kinds with fields of their own refuse others in other words than those without.
  const bool plain =
      !spec_.custom && (spec_.encoder == nullptr || spec_.encoder->field_labels().empty());
  const auto usual =
      plain ? selector::FieldLabels::kGenericRefusal : selector::FieldLabels::kUnsupported;
  return {.supported = selectable_,
          .refusal = spec_.field_refusal.empty() ? usual : spec_.field_refusal};
}

ApiResult<OutputMedia> ResourceHandler::Negotiate(const Request& request, bool watch,
                                                  bool streaming) const {
  return NegotiateOutput(OutputRequestOf(request),
                         {.protobuf = !spec_.custom, .watch = watch, .streaming = streaming});
}

ApiResult<ObjectShape> ResourceHandler::ShapeOf(const Request& request, const OutputMedia& media,
                                                bool stored) const {
  TableForm form{.beta = media.beta_meta, .now = spec_.clock->WallNow()};
  if (media.shape == Shape::kTable) {
    auto include = ReadIncludeObject(request.query);
    if (!include) return std::unexpected(include.error());
    form.include = *include;
  }
  return ObjectShape(spec_, table_, media, form, stored);
}

const schema::Type& ResourceHandler::TypeOf(const OutputMedia& media, bool list) const {
  if (media.shape == Shape::kObject) return list ? *spec_.info->list_type : spec_.type();
  return list ? *partial_list_type_ : *partial_type_;
}

void ResourceHandler::Answer(const Request& request, int code, const Status& status) const {
  if (status.details && status.details->retry_after_seconds > 0) {
    request.response.headers().Set("retry-after",
                                   std::to_string(status.details->retry_after_seconds));
  }
  const auto json = Slice::Own(status.ToJson());
  // A failure is never shown as a table; who accepts nothing else gets text for people.
  const bool failure = code >= 400;
  auto media = NegotiateOutput(OutputRequestOf(request), {.table = !failure, .partial = !failure});
  const OutputMedia form = media.value_or(OutputMedia{.pretty = true});
  auto body = RenderObject(*status_type_, json, form);
  if (!body) return SendBody(request, code, {}, {json, Slice::Static("\n")});
  SendBody(request, code, form, *std::move(body));
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
  SendAs(request, code, media, json, /*stored=*/true);
}

void ResourceHandler::SendShown(const Request& request, int code, const OutputMedia& media,
                                const Slice& json) const {
  SendAs(request, code, media, json, /*stored=*/false);
}

void ResourceHandler::SendAs(const Request& request, int code, const OutputMedia& media,
                             const Slice& json, bool stored) const {
  if (media.shape == Shape::kPartialObjectMetadataList) {
    return Refuse(request, NotAcceptable(fmt::format(
                               "you requested PartialObjectMetadataList, but the requested object "
                               "is not a list (*{}.{})",
                               InternalPackage(spec_.info->group), spec_.info->kind)));
  }
  auto shape = ShapeOf(request, media, stored);
  if (!shape) return Refuse(request, shape.error());
  Body shown;
  if (auto made = shape->AppendObject(json, shown); !made) return Refuse(request, made.error());
  auto body = Render(TypeOf(media, /*list=*/false), shown.Take(), media);
  if (!body) return Refuse(request, body.error());
  SendBody(request, code, media, *std::move(body));
}

Task<void> ResourceHandler::List(Request request) const {
  auto options = ReadListOptions(request.query, request.watch);
  if (!options) co_return Refuse(request, options.error());
  if (options->watch) co_return co_await Watch(std::move(request), *std::move(options));
  auto media = Negotiate(request, /*watch=*/true);
  if (!media) co_return Refuse(request, media.error());
  if (spec_.computed != nullptr) co_return co_await ListComputed(request, *media, *options);
  auto stored = StorageOptions(request, *options);
  if (!stored) co_return Refuse(request, stored.error());
  auto list = co_await spec_.store->List(*std::move(stored));
  if (!list) co_return Refuse(request, list.error());
  co_await SendList(request, *media, *std::move(list));
}

Task<void> ResourceHandler::SendList(Request request, OutputMedia media,
                                     storage::ListResult list) const {
  if (media.shape == Shape::kPartialObjectMetadata) {
    co_return Refuse(request, NotAcceptable(fmt::format(
                                  "you requested PartialObjectMetadata, but the requested object "
                                  "is a list (*{}.{})",
                                  InternalPackage(spec_.info->group), spec_.info->list_kind)));
  }
  auto shape = ShapeOf(request, media);
  if (!shape) co_return Refuse(request, shape.error());
  if (media.format == Format::kProtobuf) {
    co_return co_await SendProtobufList(request, media, *std::move(shape), std::move(list));
  }
  shape->Sort(list);
  const bool paged = media.format == Format::kJson && !media.pretty;
  AnswerStream answer(request.exchange.request, request.response, 200,
                      ContentTypeOf(media.format, false));
  Body body;
  shape->AppendListOpening(list, body);
  for (const auto& object : list.objects) {
    if (auto made = shape->AppendItem(*object, body); !made) {
      co_return request.response.started() ? request.response.Abort()
                                           : Refuse(request, made.error());
    }
    if (paged && body.size() >= AnswerStream::kPageBytes && !co_await answer.Write(body.Take())) {
      co_return;
    }
  }
  shape->AppendListEnd(body);
  if (paged) {
    body.text() += '\n';
    co_return co_await answer.Finish(body.Take());
  }
  auto rendered = Render(TypeOf(media, /*list=*/true), body.Take(), media);
  if (!rendered) co_return Refuse(request, rendered.error());
  co_await answer.Finish(*std::move(rendered));
}

ApiResult<Slice> ResourceHandler::MessageOf(const storage::CachedObject& object,
                                            const OutputMedia& media, ObjectShape& shape) const {
  const auto& type = TypeOf(media, /*list=*/false);
  if (shape.plain()) return ProtobufMessage(type, object, spec_.forms);
  Body shown;
  // Items of a list of metadata look like metadata by itself.
  if (auto made = shape.AppendObject(object.Json(), shown); !made) {
    return std::unexpected(made.error());
  }
  return ProtobufMessage(type, Flatten(shown.Take()));
}

// The list's length stands in front of it: all its messages are made first, or found made.
Task<void> ResourceHandler::SendProtobufList(Request request, OutputMedia media, ObjectShape shape,
                                             storage::ListResult list) const {
  const auto& type = TypeOf(media, /*list=*/true);
  Body opening;
  shape.AppendListOpening(list, opening);
  opening.text() += media.shape == Shape::kObject ? "]}" : "null}";
  const auto front = ProtobufMessage(type, opening.text());
  const uint32_t items = type.Find("items")->proto_number;

  Body body;
  for (auto& object : list.objects) {
    auto message = MessageOf(*object, media, shape);
    if (!message) co_return Refuse(request, message.error());
    object = {};
    schema::AppendProtobufField(body.text(), items, message->size());
    body.Share(*std::move(message));
  }
  const bool partial = media.shape != Shape::kObject;
  const auto head = schema::ProtobufEnvelopeHead(
      partial ? (media.beta_meta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1")
              : ApiVersionText(spec_.info->group, spec_.info->version),
      partial ? "PartialObjectMetadataList" : spec_.info->list_kind, front.size() + body.size());
  std::vector<Slice> slices{Slice::Copy(head), front};
  std::ranges::move(body.Take(), std::back_inserter(slices));
  slices.push_back(Slice::Static(schema::kProtobufEnvelopeTail));
  AnswerStream answer(request.exchange.request, request.response, 200,
                      ContentTypeOf(media.format, false));
  co_await answer.Finish(std::move(slices));
}

Task<void> ResourceHandler::Watch(Request request, ListOptions options) const {
  auto media = Negotiate(request, /*watch=*/true, /*streaming=*/true);
  if (!media) co_return Refuse(request, media.error());
  auto stored = StorageOptions(request, options);
  if (!stored) co_return Refuse(request, stored.error());
  auto shape = ShapeOf(request, *media);
  if (!shape) co_return Refuse(request, shape.error());
  const auto now = spec_.clock->Now();
  const auto length = options.timeout_seconds.value_or(0) > 0
                          ? Duration(std::chrono::seconds(*options.timeout_seconds))
                          : kMinWatch + Duration(RandomBelow(Duration(kMinWatch).count()));
  stored->deadline = now + length;
  auto watcher = co_await spec_.store->Watch(*std::move(stored));
  if (!watcher) co_return Refuse(request, watcher.error());
  request.response.headers().AddView("content-type", ContentTypeOf(media->format, true));
  request.response.Start(200);
  co_await Stream(request, *media, *std::move(shape), **watcher, now + length);
  request.response.Finish();
}

Task<void> ResourceHandler::Stream(Request request, OutputMedia media, ObjectShape shape,
                                   storage::Watcher& watcher, TimePoint deadline) const {
  auto end = std::make_shared<std::stop_source>();
  std::stop_callback on_stop(request.stop, [end] { end->request_stop(); });
  const auto timer = spec_.clock->Schedule(deadline, [end] { end->request_stop(); });
  for (;;) {
    auto events = co_await watcher.Next(end->get_token());
    // A list of one object is no list: upstream gives up at the first event.
    if (events.empty() || media.shape == Shape::kPartialObjectMetadataList) break;
    std::vector<Slice> frames;
    if (media.format == Format::kJson && shape.plain()) {
      for (const auto& event : events) storage::AppendFrame(event, frames);
    } else {
      Body body;
      bool shown = true;
      for (const auto& event : events) {
        shown = shown &&
                (media.format == Format::kJson ? shape.AppendEvent(event, body)
                                               : AppendProtobufEvent(event, media, shape, body));
      }
      if (!shown) break;
      frames = body.Take();
    }
    if (!co_await request.response.Write(std::move(frames))) break;
  }
  spec_.clock->Cancel(timer);
}

ApiResult<void> ResourceHandler::AppendProtobufEvent(const WatchEvent& event,
                                                     const OutputMedia& media, ObjectShape& shape,
                                                     Body& body) const {
  Slice message;
  auto kind = spec_.kind();
  if (event.type == WatchEvent::Type::kError) {
    kind = {"", "v1", "Status"};
    message = ProtobufMessage(*status_type_, event.text.view());
  } else {
    if (media.shape != Shape::kObject) {
      kind = {"meta.k8s.io", media.beta_meta ? "v1beta1" : "v1", "PartialObjectMetadata"};
    }
    auto made =
        event.object
            ? MessageOf(*event.object, media, shape)
            : ApiResult<Slice>(ProtobufMessage(TypeOf(media, /*list=*/false), event.text.view()));
    if (!made) return std::unexpected(made.error());
    message = *std::move(made);
  }
  const auto version = ApiVersionText(kind.group, kind.version);
  body.text() += schema::ProtobufWatchHeader(EventTypeName(event.type),
                                             EnvelopeSize(version, kind.kind, message));
  AppendEnvelope(version, kind.kind, message, body);
  return {};
}

}  // namespace keelson::rest
