#pragma once

// Projection: what an endpoint shows of the stored objects, when that is not the objects
// themselves: another version of the kind, or a Scale.
//
// Clients read, patch and apply the shown form; what they make of it is put back into the stored
// object. Immutable, shared by all threads.

#include <string_view>

#include "base/status.h"
#include "patch/updater.h"
#include "schema/resource.h"
#include "schema/type.h"
#include "value/document.h"

namespace keelson::rest {

class Projection {
 public:
  virtual ~Projection() = default;

  // Type and kind of what is shown.
  virtual const schema::Type& type() const = 0;
  virtual schema::GroupVersionKind kind() const = 0;

  // As answers show it.
  virtual ApiResult<value::Document> Show(const value::Document& stored) const = 0;
  // As a writer finds it: with the owners of its fields, where answers leave those out.
  virtual ApiResult<value::Document> Live(const value::Document& stored) const {
    return Show(stored);
  }
  // The stored form of what was shown and then changed. `stored` is null on create.
  virtual ApiResult<value::Document> Put(const value::Document& shown,
                                         const value::Document* stored) const = 0;
  // For owners who wrote other versions of the shown kind; null when there are none.
  virtual const patch::VersionConverter* versions() const { return nullptr; }
};

}  // namespace keelson::rest
