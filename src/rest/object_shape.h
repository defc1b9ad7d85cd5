#pragma once

// ObjectShape: what one request sees of objects, as JSON.
//
// The whole object, its metadata alone, or a row of a table; by itself, in a list, or in a watch
// event. Objects come in as finished JSON and their bytes are shared, not copied. Other formats are
// made from this JSON (render.h).

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "rest/body.h"
#include "rest/media_type.h"
#include "rest/table.h"
#include "storage/object_store.h"

namespace keelson::rest {

struct ResourceSpec;

class ObjectShape {
 public:
  // `spec` and `layout` outlive it. Objects come in as they are stored, or as the endpoint shows
  // them: in another version, or as a Scale.
  ObjectShape(const ResourceSpec& spec, const TableLayout& layout, const OutputMedia& media,
              const TableForm& form, bool stored);

  // An object as a whole answer.
  ApiResult<void> AppendObject(const Slice& json, Body& body);

  // A list from its opening brace up to its items, an item, and what closes the list.
  void AppendListOpening(const storage::ListResult& list, Body& body) const;
  ApiResult<void> AppendItem(const storage::CachedObject& object, Body& body);
  ApiResult<void> AppendItem(const Slice& json, Body& body);
  void AppendListEnd(Body& body) const;
  // The order in which the items are shown, when it is not the one of their names.
  void Sort(storage::ListResult& list) const;

  // A line of a watch stream.
  ApiResult<void> AppendEvent(const storage::WatchEvent& event, Body& body);

  // Whether objects are shown as the bytes they are stored in.
  bool plain() const { return shape_ == Shape::kObject && !projected_; }

 private:
  std::string_view meta_version() const {
    return form_.beta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1";
  }
  // Upstream writes no items as null where it never made an array; then the first one opens it.
  bool empty_is_null() const {
    return shape_ == Shape::kPartialObjectMetadataList ||
           (shape_ == Shape::kTable && !layout_.has_printer());
  }
  void Separate(Body& body);
  ApiResult<Slice> Show(const Slice& json) const;
  ApiResult<void> AppendRow(const Slice& json, const TableForm& form, Body& body) const;
  ApiResult<void> AppendTable(const Slice& json, Body& body);

  const ResourceSpec& spec_;
  const TableLayout& layout_;
  const Shape shape_;
  const TableForm form_;
  const bool projected_;        // what is stored is not what is shown
  bool columns_shown_ = false;  // a watch shows them once
  bool first_item_ = true;
};

}  // namespace keelson::rest
