#pragma once

// From an object tree to what storage keeps: the finished JSON and the facts that reads need.
//
// The tree is in canonical form and without resourceVersion, which storage puts in place. While
// writing, the encoder notes where names, labels and selectable fields stand, so that nothing is
// ever searched for again.

#include <string>
#include <string_view>
#include <vector>

#include "schema/resource.h"
#include "storage/cached_object.h"
#include "value/value.h"

namespace keelson::rest {

// A dotted path, taken apart. The text outlives it.
using SelectablePath = std::vector<value::Name>;
SelectablePath SplitPath(std::string_view path);

class ImageEncoder {
 public:
  // `list_items_keep_type` is for custom resources, whose list items show kind and apiVersion.
  ImageEncoder(const schema::ResourceInfo& info, bool list_items_keep_type);

  storage::ObjectImage Encode(const value::Value& object) const;

  // Labels of the selectable fields, in the order of ObjectFacts::fields; metadata.name and
  // metadata.namespace are not among them.
  const std::vector<std::string>& field_labels() const { return field_labels_; }

 private:
  std::vector<std::string> field_labels_;
  std::vector<SelectablePath> field_paths_;
  bool list_items_keep_type_;
};

// Appends the value at a path as a selector sees it: text as it is, numbers and booleans in their
// usual form, nothing for anything else.
void AppendSelectable(std::string& out, const value::Value& object, const SelectablePath& path);

}  // namespace keelson::rest
