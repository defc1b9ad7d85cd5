#include "rest/render.h"

#include <utility>

#include "rest/body.h"
#include "rest/protobuf_form.h"
#include "value/json.h"
#include "value/json_cursor.h"
#include "value/yaml.h"

namespace keelson::rest {

std::string_view ContentTypeOf(Format format, bool stream) {
  if (format == Format::kProtobuf && stream)
    return "application/vnd.kubernetes.protobuf;stream=watch";
  return MediaTypeOf(format);
}

namespace {

// Kind and apiVersion, which stand in front.
struct FrontTypeMeta {
  std::string_view api_version;
  std::string_view kind;
};
FrontTypeMeta TypeMetaOf(std::string_view json) {
  FrontTypeMeta meta;
  value::JsonCursor cursor(json);
  for (bool more = cursor.Enter('{'); more; more = cursor.Next('}')) {
    const auto key = cursor.TakeKey().raw;
    if (key == "kind") {
      meta.kind = cursor.TakeString().raw;
    } else if (key == "apiVersion") {
      meta.api_version = cursor.TakeString().raw;
    } else {
      break;
    }
  }
  return meta;
}

}  // namespace

std::string IndentJson(std::string_view compact) {
  std::string out;
  out.reserve(compact.size() * 2);
  size_t depth = 0;
  bool in_string = false;
  auto new_line = [&] {
    out += '\n';
    out.append(depth * 2, ' ');
  };
  for (size_t i = 0; i < compact.size(); ++i) {
    char c = compact[i];
    if (in_string) {
      out += c;
      if (c == '\\') {
        out += compact[++i];
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    switch (c) {
      case '"':
        in_string = true;
        out += c;
        break;
      case '{':
      case '[':
        out += c;
        // An empty container stays on its line.
        if (i + 1 < compact.size() && (compact[i + 1] == '}' || compact[i + 1] == ']')) {
          out += compact[++i];
        } else {
          ++depth;
          new_line();
        }
        break;
      case '}':
      case ']':
        --depth;
        new_line();
        out += c;
        break;
      case ',':
        out += c;
        new_line();
        break;
      case ':':
        out += ": ";
        break;
      default:
        out += c;
    }
  }
  return out;
}

ApiResult<std::vector<Slice>> RenderObject(const schema::Type& type, const Slice& json,
                                           const OutputMedia& media) {
  Body body;
  if (media.format == Format::kProtobuf) {
    const auto kind = TypeMetaOf(json.view());
    AppendEnvelope(kind.api_version, kind.kind, ProtobufMessage(type, json.view()), body);
  } else if (media.format == Format::kYaml) {
    auto object = value::ParseJson(json.view());
    if (!object) return std::unexpected(InternalErrorStatus(object.error().message));
    body.text() = value::ToYaml(object->root());
  } else if (media.pretty) {
    body.text() = IndentJson(json.view());
  } else {
    body.Share(json);
    body.text() += '\n';
  }
  return body.Take();
}

ApiResult<std::vector<Slice>> Render(const schema::Type& type, std::vector<Slice> json,
                                     const OutputMedia& media) {
  if (media.format == Format::kJson && !media.pretty) {
    json.push_back(Slice::Static("\n"));
    return json;
  }
  return RenderObject(type, json.size() == 1 ? json.front() : Slice::Own(Flatten(json)), media);
}

}  // namespace keelson::rest
