// Endpoints and EndpointSlice.

#include <algorithm>

#include "api/discovery_v1.h"
#include "base/ip_address.h"
#include "base/seen.h"
#include "kube/service/kinds.h"
#include "kube/service/service_fields.h"
#include "rest/object_meta.h"
#include "schema/equality.h"

namespace keelson::kube::service {
namespace {

namespace discovery = api::discovery_v1;

void CheckAddress(const v1::EndpointAddress& address, const Path& path, FieldErrors& errors) {
  rest::CheckText(address.ip(), names::CheckIp, path.Child("ip"), errors);
  if (!address.hostname().empty()) {
    rest::CheckText(address.hostname(), names::CheckDns1123Label, path.Child("hostname"), errors);
  }
  if (auto node = address.nodeName()) {
    rest::CheckText(*node, names::CheckDns1123Subdomain, path.Child("nodeName"), errors);
  }
  rest::CheckText(address.ip(), names::CheckEndpointIp, path.Child("ip"), errors);
}

void CheckSubset(const v1::EndpointSubset& subset, const Path& path, FieldErrors& errors) {
  if (subset.addresses().empty() && subset.notReadyAddresses().empty()) {
    errors.push_back(Required(path, "must specify `addresses` or `notReadyAddresses`"));
  }
  auto check_all = [&](std::string_view field, schema::ListView<v1::EndpointAddress> addresses) {
    const Path list = path.Child(field);
    for (size_t i = 0; i < addresses.size(); ++i) CheckAddress(addresses[i], list.Index(i), errors);
  };
  check_all("addresses", subset.addresses());
  check_all("notReadyAddresses", subset.notReadyAddresses());
  const auto ports = subset.ports();
  const Path list = path.Child("ports");
  for (size_t i = 0; i < ports.size(); ++i) {
    const Path at = list.Index(i);
    const v1::EndpointPort port = ports[i];
    if (!port.name().empty()) {
      rest::CheckText(port.name(), names::CheckDns1123Label, at.Child("name"), errors);
    } else if (ports.size() > 1) {
      errors.push_back(Required(at.Child("name"), ""));
    }
    schema::AddComplaints(errors, at.Child("port"), port.port(),
                          names::CheckPortNumber(port.port()));
    rest::CheckRequiredChoice(port.protocol(), kPortProtocols, at.Child("protocol"), errors);
    if (auto protocol = port.appProtocol()) {
      rest::CheckText(*protocol, names::CheckQualifiedName, at.Child("appProtocol"), errors);
    }
  }
}

void ValidateEndpoints(const WriteScope&, const Value& object, FieldErrors& errors) {
  const auto subsets = v1::Endpoints(object).subsets();
  const Path list("subsets");
  for (size_t i = 0; i < subsets.size(); ++i) CheckSubset(subsets[i], list.Index(i), errors);
}

// What was stored under older rules may stay as it is.
void ValidateEndpointsUpdate(const WriteScope& scope, const Value& object, const Value& old,
                             FieldErrors& errors) {
  FieldErrors found;
  ValidateEndpoints(scope, object, found);
  if (found.empty() || object["subsets"] == old["subsets"]) return;
  schema::Append(errors, std::move(found));
}

// --- EndpointSlice

constexpr size_t kMaxEndpoints = 1000;
constexpr size_t kMaxAddresses = 100;
constexpr size_t kMaxPorts = 20000;
constexpr size_t kMaxTopologyLabels = 16;
constexpr size_t kMaxHints = 8;
constexpr std::string_view kAddressTypes[] = {"FQDN", "IPv4", "IPv6"};

void CheckSliceAddress(std::string_view address, std::string_view type, const Path& list,
                       size_t index, FieldErrors& errors) {
  const Path path = list.Index(index);
  if (type == "FQDN") {
    if (address.ends_with('.') && address.size() > 1) address.remove_suffix(1);
    if (address.empty()) {
      errors.push_back(Required(path, ""));
    } else if (auto complaints = names::CheckDns1123Subdomain(address); !complaints.empty()) {
      errors.push_back(Invalid(path, address, fmt::format("{}", fmt::join(complaints, ","))));
    } else if (address.find('.') == std::string_view::npos) {
      errors.push_back(Invalid(path, address,
                               "should be a domain with at least two segments separated by dots"));
    }
    return;
  }
  const bool wants_v4 = type == kIPv4;
  if (!wants_v4 && type != kIPv6) return;
  auto complaints = wants_v4 ? names::CheckIp(address) : names::CheckCanonicalIp(address);
  if (!complaints.empty()) {
    schema::AddComplaints(errors, path, address, complaints);
    return;
  }
  if (IpAddress::Parse(address)->is_v4() != wants_v4) {
    errors.push_back(
        Invalid(list, address, wants_v4 ? "must be an IPv4 address" : "must be an IPv6 address"));
  }
  rest::CheckText(address, names::CheckEndpointIp, path, errors);
}

template <typename Hints>
void CheckHintNames(const Hints& hints, names::Complaints (*check)(std::string_view),
                    const Path& path, FieldErrors& errors) {
  Seen<std::string_view> seen;
  for (size_t i = 0; i < hints.size(); ++i) {
    const Path item = path.Index(i);
    const Path at = item.Child("name");
    const auto name = hints[i].name();
    if (!seen.Insert(name)) errors.push_back(schema::Duplicate(at, name));
    rest::CheckText(name, check, at, errors);
  }
}

void CheckHints(const discovery::EndpointHints& hints, const Path& path, FieldErrors& errors) {
  auto too_many = [&](std::string_view field, size_t count) {
    if (count <= kMaxHints) return false;
    errors.push_back(schema::TooMany(path.Child(field), static_cast<int64_t>(count), kMaxHints));
    return true;
  };
  if (too_many("forZones", hints.forZones().size())) return;
  CheckHintNames(hints.forZones(), names::CheckLabelValue, path.Child("forZones"), errors);
  if (too_many("forNodes", hints.forNodes().size())) return;
  CheckHintNames(hints.forNodes(), names::CheckDns1123Subdomain, path.Child("forNodes"), errors);
}

void CheckEndpoint(const discovery::Endpoint& endpoint, std::string_view type, const Path& path,
                   FieldErrors& errors) {
  const auto addresses = endpoint.addresses();
  const Path list = path.Child("addresses");
  if (addresses.empty()) {
    errors.push_back(Required(list, "must contain at least 1 address"));
  } else if (addresses.size() > kMaxAddresses) {
    errors.push_back(schema::TooMany(list, static_cast<int64_t>(addresses.size()), kMaxAddresses));
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    CheckSliceAddress(addresses[i], type, list, i, errors);
  }
  if (auto node = endpoint.nodeName()) {
    rest::CheckText(*node, names::CheckDns1123Subdomain, path.Child("nodeName"), errors);
  }
  const auto topology = endpoint.deprecatedTopology();
  if (!topology.empty()) {
    const Path at = path.Child("deprecatedTopology");
    if (topology.size() > kMaxTopologyLabels) {
      errors.push_back(
          schema::TooMany(at, static_cast<int64_t>(topology.size()), kMaxTopologyLabels));
    }
    rest::ValidateLabels(topology.value(), at, errors);
  }
  if (auto host = endpoint.hostname()) {
    rest::CheckText(*host, names::CheckDns1123Label, path.Child("hostname"), errors);
  }
  if (endpoint.hints()) CheckHints(endpoint.hints(), path.Child("hints"), errors);
}

void CheckSlicePorts(schema::ListView<discovery::EndpointPort> ports, FieldErrors& errors) {
  const Path list("ports");
  if (ports.size() > kMaxPorts) {
    errors.push_back(schema::TooMany(list, static_cast<int64_t>(ports.size()), kMaxPorts));
    return;
  }
  Seen<std::string_view> seen;
  for (size_t i = 0; i < ports.size(); ++i) {
    const Path path = list.Index(i);
    const auto name = ports[i].name().value_or("");
    if (!name.empty()) {
      rest::CheckText(name, names::CheckDns1123Label, path.Child("name"), errors);
    }
    if (!seen.Insert(name)) errors.push_back(schema::Duplicate(path.Child("name"), name));
    if (auto protocol = ports[i].protocol()) {
      rest::CheckSupported(*protocol, kPortProtocols, path.Child("protocol"), errors);
    } else {
      errors.push_back(Required(path.Child("protocol"), ""));
    }
    if (auto protocol = ports[i].appProtocol()) {
      rest::CheckText(*protocol, names::CheckQualifiedName, path.Child("appProtocol"), errors);
    }
  }
}

void CheckSlice(const discovery::EndpointSlice& slice, const Value* old, FieldErrors& errors) {
  const auto type = slice.addressType();
  rest::CheckRequiredChoice(type, kAddressTypes, Path("addressType"), errors);
  CheckSlicePorts(slice.ports(), errors);
  const auto endpoints = slice.endpoints();
  const Path list("endpoints");
  if (endpoints.size() > kMaxEndpoints) {
    errors.push_back(schema::TooMany(list, static_cast<int64_t>(endpoints.size()), kMaxEndpoints));
    return;
  }
  FieldErrors found;
  for (size_t i = 0; i < endpoints.size(); ++i) {
    CheckEndpoint(endpoints[i], type, list.Index(i), found);
  }
  // What was stored under older rules may stay as it is.
  if (found.empty() || (old != nullptr && (*old)["endpoints"] == endpoints.value())) return;
  schema::Append(errors, std::move(found));
}

void ValidateSlice(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckSlice(discovery::EndpointSlice(object), nullptr, errors);
}

void ValidateSliceUpdate(const WriteScope&, const Value& object, const Value& old,
                         FieldErrors& errors) {
  const discovery::EndpointSlice slice(object);
  CheckSlice(slice, &old, errors);
  if (slice.addressType() != discovery::EndpointSlice(old).addressType()) {
    errors.push_back(Immutable(Path("addressType"), slice.addressType()));
  }
}

std::vector<std::string> SliceWarnings(const WriteScope&, const Value& object, const Value* old) {
  if (old != nullptr || discovery::EndpointSlice(object).addressType() != "FQDN") return {};
  return {"spec.addressType: FQDN endpoints are deprecated"};
}

// Labels count as well: what a slice belongs to is written in them.
void CountLabels(const WriteScope&, Ref object, const Value& old) {
  if (object.Get()["metadata"]["labels"] == old["metadata"]["labels"]) return;
  object.Field("metadata")
      .SetField("generation", Value::Int(old["metadata"]["generation"].AsInt() + 1));
}

}  // namespace

constinit const rest::KindRules kEndpointsRules = {
    .create_on_update = true,
    .validate = ValidateEndpoints,
    .validate_update = ValidateEndpointsUpdate,
};

constinit const rest::KindRules kEndpointSliceRules = {
    .counts_generation = true,
    .prepare_for_update = CountLabels,
    .validate = ValidateSlice,
    .validate_update = ValidateSliceUpdate,
    .warnings = SliceWarnings,
};

}  // namespace keelson::kube::service
