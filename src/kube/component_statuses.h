#pragma once

// The deprecated componentstatuses: how the scheduler, the controller manager and the store are
// doing, asked for when somebody looks.

#include <memory>
#include <span>
#include <vector>

#include "http/client.h"
#include "net/io_thread.h"
#include "rest/kind_table.h"
#include "rest/resource.h"

namespace keelson::kube {

class ComponentStatuses final : public rest::ComputedObjects {
 public:
  // The pool outlives it.
  static Result<std::unique_ptr<ComponentStatuses>> Create(net::IoPool& pool);

  // On an io thread.
  Task<ApiResult<std::vector<value::Document>>> List() const override;
  Status NotFound(std::string_view name) const override;

  std::span<const rest::KindComputed> Kinds() const { return kinds_; }

 private:
  explicit ComponentStatuses(std::unique_ptr<http::Client> client);

  const std::unique_ptr<http::Client> client_;
  const std::vector<rest::KindComputed> kinds_;
};

}  // namespace keelson::kube
