#pragma once

// NamespaceLifecycle: nothing is created in a namespace that is not there or that is going away,
// and the namespaces every cluster needs are not deleted.
//
// Namespaces are looked up in their watch cache. A namespace that has just been asked to go is read
// from the store for a while, so that the cache's being a moment behind lets nothing slip in.

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "admission/admission.h"
#include "base/clock.h"
#include "storage/object_store.h"

namespace keelson::kube::core {

class NamespaceLifecycle final : public admission::Plugin {
 public:
  explicit NamespaceLifecycle(Clock& clock) : clock_(clock) {}
  // Where namespaces are kept. Once, before the first request.
  void Connect(storage::ObjectStore& namespaces);

  std::string_view name() const override { return "NamespaceLifecycle"; }
  bool Handles(const admission::Request& request) const override;
  bool mutates() const override { return true; }
  // Early, before anything else is said about an object in a namespace that is not there.
  Task<ApiResult<void>> Mutate(const admission::Request& request, value::Ref object) const override;
  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const admission::Request& request) const override;

 private:
  bool RecentlyDeleted(std::string_view name) const;

  Clock& clock_;
  storage::ObjectStore* namespaces_ = nullptr;
  size_t phase_field_ = 0;
  mutable std::mutex mutex_;
  mutable std::map<std::string, TimePoint, std::less<>> deleted_;  // and until when it counts
};

}  // namespace keelson::kube::core
