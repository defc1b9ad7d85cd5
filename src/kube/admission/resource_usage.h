#pragma once

// What an object costs its namespace's quotas. Pure functions over trees.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "value/quantity.h"
#include "value/value.h"

namespace keelson::kube::plugins {

// By the names quotas use: requests.cpu, count/configmaps, services.nodeports.
using Usage = std::map<std::string, value::Quantity, std::less<>>;

// Whether the request can change what is used.
bool ChangesUsage(const keelson::admission::Request& request);

// What an object of the request's resource costs.
Usage UsageOf(const keelson::admission::Request& request, const value::Value& object);

// Which names of a quota's list the request's resource is counted under.
std::vector<std::string_view> CountedNames(const keelson::admission::Request& request,
                                           const value::Value& hard);

// What a quota with these limits wants every container to say; empty when they do. "must specify
// requests.cpu for: a,b"
std::string MissingAmounts(const keelson::admission::Request& request, const value::Value& object,
                           const std::vector<std::string_view>& counted);

// Whether a quota's scopes cover the object; no scopes cover everything.
bool InScope(const keelson::admission::Request& request, const value::Value& object,
             const value::Value& quota);

}  // namespace keelson::kube::plugins
