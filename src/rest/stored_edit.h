#pragma once

// Changes the server makes to stored objects on its own account: past strategies, admission and
// field owners, inside the store's compare-and-swap loop.
//
//   class Charge : public StoredEdit { ApiResult<bool> Edit(value::Ref quota) override; };

#include "base/status.h"
#include "base/task.h"
#include "rest/object_image.h"
#include "schema/resource.h"
#include "storage/object_store.h"
#include "value/document.h"

namespace keelson::rest {

class StoredEdit : public storage::Changer {
 public:
  // `info` is the version that is stored.
  StoredEdit(const schema::ResourceInfo& info, bool dry_run)
      : info_(info), encoder_(info, /*list_items_keep_type=*/false), dry_run_(dry_run) {}

  // Edits the object in place and tells whether there is anything to store. Asked again when
  // somebody else was faster, so it must not remember.
  virtual ApiResult<bool> Edit(value::Ref object) = 0;

  Task<ApiResult<storage::Change>> Decide(storage::ObjectRef current) final;

 private:
  const schema::ResourceInfo& info_;
  const ImageEncoder encoder_;
  const bool dry_run_;
  value::Document edited_;  // what the image points to
};

}  // namespace keelson::rest
