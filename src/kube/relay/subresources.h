#pragma once

// The subresources that take the connection over: a pod's log, exec, attach, portforward and proxy,
// and the proxies of nodes and services.

#include <memory>
#include <span>
#include <vector>

#include "kube/relay/kubelet.h"
#include "rest/kind_table.h"
#include "rest/subresource.h"

namespace keelson::kube {

class Relays {
 public:
  // `outbound` outlives it, and it the table its entries are put into.
  explicit Relays(const Outbound& outbound);
  ~Relays();

  std::span<const rest::KindSubresource> Subresources() const { return entries_; }

 private:
  std::vector<std::unique_ptr<const rest::Subresource>> handlers_;
  std::vector<rest::KindSubresource> entries_;
};

}  // namespace keelson::kube
