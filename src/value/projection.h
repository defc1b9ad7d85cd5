#pragma once

// Projection: the few parts of an object that somebody needs, read from its JSON without the rest.
//
//   Projection parts({"spec.nodeName", "status.conditions.type", "metadata.labels"});
//   Value pod = parts.Read(json, arena);   // a tree that holds these and nothing else
//
// A path names a member and everything below it; a step through a list means each of its items. A
// list keeps the number of its items even when nothing of them is named. Immutable; any thread.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "value/arena.h"
#include "value/json_cursor.h"
#include "value/value.h"

namespace keelson::value {

class Projection {
 public:
  // The paths are copied.
  explicit Projection(std::span<const std::string_view> paths);
  ~Projection();
  Projection(Projection&&) noexcept;

  // `json` is finished JSON (json_cursor.h). The tree borrows from it, from the arena and from
  // this. When `metadata` is given, it becomes the text of the member of that name.
  Value Read(std::string_view json, Arena& arena, std::string_view* metadata = nullptr) const;

 private:
  struct Part;
  static Value ReadPart(const Part& part, JsonCursor& cursor, Arena& arena);
  static Value ReadObject(const Part& part, JsonCursor& cursor, Arena& arena,
                          std::string_view* metadata);

  std::unique_ptr<Part> root_;
};

}  // namespace keelson::value
