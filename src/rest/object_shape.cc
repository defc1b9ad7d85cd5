#include "rest/object_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "rest/decode_body.h"
#include "rest/resource.h"
#include "rest/versions.h"
#include "value/json_cursor.h"

namespace keelson::rest {
namespace {

using storage::ListResult;
using storage::WatchEvent;

// metadata.resourceVersion of an object. It stands near the front.
std::string_view VersionOf(std::string_view json) {
  value::JsonCursor object(json);
  for (bool more = object.Enter('{'); more; more = object.Next('}')) {
    if (object.TakeKey().raw != "metadata") {
      object.Skip();
      continue;
    }
    for (bool inner = object.Enter('{'); inner; inner = object.Next('}')) {
      if (object.TakeKey().raw == "resourceVersion") return object.TakeString().raw;
      object.Skip();
    }
    break;
  }
  return {};
}

// Where the members behind kind and apiVersion begin: items of lists leave those two out.
size_t TypeEnd(std::string_view json) {
  value::JsonCursor cursor(json);
  for (bool more = cursor.Enter('{'); more; more = cursor.Next('}')) {
    const auto at = static_cast<size_t>(cursor.position() - json.data());
    const auto key = cursor.TakeKey().raw;
    if (key != "kind" && key != "apiVersion") return at;
    cursor.Skip();
  }
  return 0;
}

constexpr std::string_view kInitialEventsEnd = R"("k8s.io/initial-events-end":"true")";

}  // namespace

ObjectShape::ObjectShape(const ResourceSpec& spec, const TableLayout& layout,
                         const OutputMedia& media, const TableForm& form, bool stored)
    : spec_(spec),
      layout_(layout),
      shape_(media.shape),
      form_(form),
      projected_(stored && spec.projection != nullptr && &spec.type() != &spec.stored_type()) {}

ApiResult<Slice> ObjectShape::Show(const Slice& json) const {
  if (!projected_) return json;
  return Shown(spec_, json);
}

ApiResult<void> ObjectShape::AppendObject(const Slice& json, Body& body) {
  if (shape_ == Shape::kTable) return AppendTable(json, body);
  if (shape_ != Shape::kObject) {
    AppendPartialMetadata(json, form_.beta, body);
    return {};
  }
  auto shown = Show(json);
  if (!shown) return std::unexpected(shown.error());
  body.Share(*std::move(shown));
  return {};
}

// Cells are read from what is stored, whatever is shown of it.
ApiResult<void> ObjectShape::AppendRow(const Slice& json, const TableForm& form, Body& body) const {
  auto object = form.include == IncludeObject::kObject ? Show(json) : json;
  if (!object) return std::unexpected(object.error());
  layout_.AppendRow(json, *object, form, body);
  return {};
}

// A table of one row.
ApiResult<void> ObjectShape::AppendTable(const Slice& json, Body& body) {
  const auto version = VersionOf(json.view());
  body.text() += fmt::format(R"({{"kind":"Table","apiVersion":"{}","metadata":{{)", meta_version());
  if (!version.empty()) body.text() += fmt::format(R"("resourceVersion":"{}")", version);
  body.text() += R"(},"columnDefinitions":)";
  body.text() += std::exchange(columns_shown_, true) ? "null" : layout_.columns();
  body.text() += R"(,"rows":[)";
  auto form = form_;
  // The end of the initial events is told by an annotation, which must not get lost.
  if (form.include == IncludeObject::kNone && json.view().contains(kInitialEventsEnd)) {
    form.include = IncludeObject::kMetadata;
  }
  auto row = AppendRow(json, form, body);
  body.text() += "]}";
  return row;
}

void ObjectShape::AppendListOpening(const ListResult& list, Body& body) const {
  auto& out = body.text();
  switch (shape_) {
    case Shape::kTable:
      out += fmt::format(R"({{"kind":"Table","apiVersion":"{}")", meta_version());
      break;
    case Shape::kPartialObjectMetadataList:
      out +=
          fmt::format(R"({{"kind":"PartialObjectMetadataList","apiVersion":"{}")", meta_version());
      break;
    default:
      out += fmt::format(R"({{"kind":"{}","apiVersion":"{}")", spec_.info->list_kind,
                         ApiVersionText(spec_.info->group, spec_.info->version));
  }
  out += R"(,"metadata":{)";
  if (list.revision != 0) out += fmt::format(R"("resourceVersion":"{}")", list.revision);
  // Upstream's lists of custom objects always say that there is no more.
  if (!list.continue_token.empty() || (spec_.custom && shape_ == Shape::kObject)) {
    out += R"(,"continue":)";
    AppendJsonString(out, list.continue_token);
  }
  if (list.remaining) out += fmt::format(R"(,"remainingItemCount":{})", *list.remaining);
  out += '}';
  if (shape_ == Shape::kTable) {
    out += R"(,"columnDefinitions":)";
    out += layout_.columns();
    out += R"(,"rows":)";
  } else {
    out += R"(,"items":)";
  }
  if (!empty_is_null()) out += '[';
}

void ObjectShape::Separate(Body& body) {
  if (!std::exchange(first_item_, false)) {
    body.text() += ',';
  } else if (empty_is_null()) {
    body.text() += '[';
  }
}

ApiResult<void> ObjectShape::AppendItem(const storage::CachedObject& object, Body& body) {
  if (!plain()) return AppendItem(object.Json(), body);
  Separate(body);
  if (object.omits_type()) body.text() += '{';
  body.Share(object.ListItem());
  return {};
}

ApiResult<void> ObjectShape::AppendItem(const Slice& json, Body& body) {
  Separate(body);
  if (shape_ == Shape::kTable) return AppendRow(json, form_, body);
  if (shape_ == Shape::kPartialObjectMetadataList) {
    AppendPartialMetadata(json, form_.beta, body);
    return {};
  }
  auto shown = Show(json);
  if (!shown) return std::unexpected(shown.error());
  const size_t type_end = spec_.custom ? 0 : TypeEnd(shown->view());
  if (type_end != 0) body.text() += '{';
  body.Share(shown->Sub(type_end));
  return {};
}

void ObjectShape::AppendListEnd(Body& body) const {
  body.text() += first_item_ && empty_is_null() ? "null}" : "]}";
}

void ObjectShape::Sort(ListResult& list) const {
  if (shape_ != Shape::kTable || !layout_.ordered()) return;
  struct Keyed {
    int64_t key;
    size_t position;
  };
  std::vector<Keyed> order;
  for (const auto& object : list.objects) {
    order.push_back({layout_.OrderOf(object->json_view()), order.size()});
  }
  std::ranges::sort(order, {}, [](const Keyed& k) { return std::pair(k.key, k.position); });
  std::vector<storage::ObjectRef> sorted;
  sorted.reserve(order.size());
  for (const auto& keyed : order) sorted.push_back(std::move(list.objects[keyed.position]));
  list.objects = std::move(sorted);
}

ApiResult<void> ObjectShape::AppendEvent(const WatchEvent& event, Body& body) {
  body.text() += storage::FrameOpening(event.type);
  const Slice json = event.object ? event.object->Json() : event.text;
  ApiResult<void> shown;
  if (event.type == WatchEvent::Type::kError) {
    body.Share(json);
  } else {
    shown = AppendObject(json, body);
  }
  body.text() += "}\n";
  return shown;
}

}  // namespace keelson::rest
