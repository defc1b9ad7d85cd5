#include "rest/object_image.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "value/json.h"

namespace keelson::rest {
namespace {

using storage::ObjectFacts;
using storage::ObjectImage;
using value::Member;
using value::Value;

// Members of metadata that stand in front of resourceVersion in upstream's order.
constexpr std::string_view kBeforeVersion[] = {"name", "generateName", "namespace", "selfLink",
                                               "uid"};

// Few objects are larger.
constexpr size_t kUsualBytes = 4096;

struct Place {
  size_t at = 0;
  size_t size = 0;
};

// Writes one object and remembers where its facts stand.
class ImageWriter {
 public:
  void Write(const Value& object) {
    out_.reserve(kUsualBytes);
    out_ += '{';
    for (const Member& member : object.members()) {
      auto key = member.key();
      Comma();
      if (!type_end_ && key != "kind" && key != "apiVersion") type_end_ = out_.size();
      AppendKey(member);
      if (key == "metadata") {
        WriteMetadata(member.value);
      } else {
        value::AppendJson(out_, member.value);
      }
    }
    out_ += '}';
  }

  ObjectImage Finish(bool keep_type) {
    ObjectImage image;
    image.json = Slice::Own(std::move(out_));
    auto view = image.json.view();
    auto cut = [&](Place place) { return view.substr(place.at, place.size); };
    image.facts.name = cut(name_);
    image.facts.ns = cut(ns_);
    image.facts.uid = cut(uid_);
    image.facts.labels.reserve(labels_.size());
    for (const auto& [key, text] : labels_) image.facts.labels.push_back({cut(key), cut(text)});
    image.facts.version_at = static_cast<uint32_t>(version_at_);
    image.facts.type_end = keep_type ? 0 : static_cast<uint32_t>(type_end_.value_or(0));
    return image;
  }

 private:
  void Comma() {
    if (!out_.ends_with('{')) out_ += ',';
  }
  void AppendKey(const Member& member) {
    if (member.name->has_quoted()) {
      out_ += member.name->quoted();
    } else {
      AppendJsonString(out_, member.key());
      out_ += ':';
    }
  }
  // Where the text itself stands, without its quotes. Names and labels hold nothing that JSON
  // escapes: validation came before.
  Place AppendText(std::string_view text) {
    size_t at = out_.size() + 1;
    AppendJsonString(out_, text);
    return {at, out_.size() - at - 1};
  }

  void WriteMetadata(const Value& metadata) {
    out_ += '{';
    for (const Member& member : metadata.members()) {
      auto key = member.key();
      Comma();
      AppendKey(member);
      if (key == "labels" && member.value.is_object()) {
        WriteLabels(member.value);
      } else if (member.value.is_string() &&
                 (key == "name" || key == "namespace" || key == "uid")) {
        (key == "name" ? name_ : key == "uid" ? uid_ : ns_) = AppendText(member.value.AsString());
      } else {
        value::AppendJson(out_, member.value);
      }
      if (std::ranges::find(kBeforeVersion, key) != std::end(kBeforeVersion)) {
        version_at_ = out_.size();
      }
    }
    out_ += '}';
  }

  void WriteLabels(const Value& labels) {
    labels_.reserve(labels.size());
    out_ += '{';
    for (const Member& label : labels.members()) {
      Comma();
      auto key = AppendText(label.key());
      out_ += ':';
      labels_.emplace_back(key, AppendText(label.value.AsString()));
    }
    out_ += '}';
  }

  std::string out_;
  Place name_;
  Place ns_;
  Place uid_;
  std::vector<std::pair<Place, Place>> labels_;
  std::optional<size_t> type_end_;
  size_t version_at_ = 0;
};

}  // namespace

SelectablePath SplitPath(std::string_view path) {
  SelectablePath steps;
  while (!path.empty()) {
    const auto dot = path.find('.');
    steps.push_back(value::Name::Plain(path.substr(0, dot)));
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  return steps;
}

void AppendSelectable(std::string& out, const Value& object, const SelectablePath& path) {
  const Value* at = &object;
  for (size_t i = 0; at != nullptr && i < path.size(); ++i) at = at->Find(path[i]);
  if (at == nullptr) return;
  if (at->is_string()) {
    out += at->AsString();
  } else if (at->is_bool()) {
    out += at->AsBool() ? "true" : "false";
  } else if (at->is_int()) {
    out += std::to_string(at->AsInt());
  }
}

ImageEncoder::ImageEncoder(const schema::ResourceInfo& info, bool list_items_keep_type)
    : list_items_keep_type_(list_items_keep_type) {
  for (const auto& field : info.selectable_fields) {
    if (field.label == "metadata.name" || field.label == "metadata.namespace") continue;
    field_labels_.emplace_back(field.label);
    field_paths_.push_back(SplitPath(field.path.empty() ? field.label : field.path));
  }
}

ObjectImage ImageEncoder::Encode(const Value& object) const {
  ImageWriter writer;
  writer.Write(object);
  auto image = writer.Finish(list_items_keep_type_);
  if (!field_paths_.empty()) {
    // One block for all of them: they are short, and few stand in the JSON as selectors want them.
    std::string texts;
    std::vector<size_t> ends;
    ends.reserve(field_paths_.size());
    for (const auto& path : field_paths_) {
      AppendSelectable(texts, object, path);
      ends.push_back(texts.size());
    }
    image.kept.push_back(Slice::Own(std::move(texts)));
    const auto view = image.kept.back().view();
    image.facts.fields.reserve(ends.size());
    size_t begin = 0;
    for (const size_t end : ends) {
      image.facts.fields.push_back(view.substr(begin, end - begin));
      begin = end;
    }
  }
  return image;
}

}  // namespace keelson::rest
