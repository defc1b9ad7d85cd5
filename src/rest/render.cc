#include "rest/render.h"

#include <utility>

#include "schema/decode_json.h"
#include "schema/protobuf.h"
#include "value/json.h"

namespace keelson::rest {

std::string_view ContentTypeOf(Format format, bool stream) {
  if (format == Format::kProtobuf && stream)
    return "application/vnd.kubernetes.protobuf;stream=watch";
  return MediaTypeOf(format);
}

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
  std::vector<Slice> body;
  // JSON is YAML, too: whoever asks for that gets the same text.
  if (media.format != Format::kProtobuf) {
    if (media.pretty) {
      body.push_back(Slice::Own(IndentJson(json.view())));
    } else {
      body.push_back(json);
      body.push_back(Slice::Static("\n"));
    }
    return body;
  }
  auto decoded = schema::DecodeJson(type, json.view());
  if (!decoded) return std::unexpected(InternalErrorStatus(decoded.error().message));
  body.push_back(Slice::Own(schema::EncodeProtobufEnvelope(type, decoded->object.root())));
  return body;
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
