#pragma once

// Writing API objects from inside the process, without a request: the steps every write takes, but
// for those that depend on who asks.

#include <string>
#include <utility>

#include "base/status.h"
#include "base/task.h"
#include "rest/resource.h"
#include "value/document.h"

namespace keelson::kube::access {

struct ObjectKey {
  std::string ns;  // empty for cluster-scoped kinds
  std::string name;
};

// Stores a new object; its metadata needs no more than a name.
Task<ApiResult<void>> CreateObject(const rest::ResourceSpec& spec, ObjectKey key,
                                   value::Document object);

// A change to make. Asked again, with the newer state, when somebody else was faster.
class ObjectEdit {
 public:
  virtual ~ObjectEdit() = default;
  // Edits in place. False leaves everything as it is.
  virtual bool Apply(value::Ref object) = 0;
};

Task<ApiResult<void>> EditObject(const rest::ResourceSpec& spec, ObjectKey key, ObjectEdit& edit);

}  // namespace keelson::kube::access
