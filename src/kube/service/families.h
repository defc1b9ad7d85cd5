#pragma once

// Which address families a service gets, worked out from what its writer said; internal.

#include "base/status.h"
#include "kube/service/address_allocator.h"
#include "kube/service/service_fields.h"

namespace keelson::kube::service {

// Brings clusterIP and clusterIPs in line: clients may know only the older, single one. `spec` is
// the new service's; `old` is null on create.
void NormalizeClusterIps(Ref spec, const v1::ServiceSpec* old);

// Puts back what the server once chose and the client left out.
void KeepAllocated(Ref spec, const v1::ServiceSpec& old);

// True when nothing about addresses has changed on a service that merely prefers two families: the
// cluster's own families may have changed since, but it keeps what it has.
bool KeepsPreferredFamilies(const v1::ServiceSpec& spec, const v1::ServiceSpec* old);

// Fills in ipFamilyPolicy and ipFamilies, or says what is wrong with them.
ApiResult<void> ResolveFamilies(Ref spec, const v1::ServiceSpec* old, std::string_view service,
                                const AddressAllocator& addresses);

// A list of texts in the builder's arena.
Value Texts(value::Builder& builder, std::span<const std::string> texts);

}  // namespace keelson::kube::service
