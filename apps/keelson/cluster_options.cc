#include <algorithm>
#include <iterator>

#include "options.h"

namespace keelson::app {
namespace {

constexpr std::string_view kReconcilers[] = {"master-count", "lease", "none"};

class PortRangeFlag final : public flags::Value {
 public:
  explicit PortRangeFlag(kube::service::PortRange& target) : target_(target) {}
  std::string_view type() const override { return "portRange"; }
  Result<void> Set(std::string_view text) override {
    TRY(target_, kube::service::PortRange::Parse(text));
    return {};
  }
  std::string Text() const override { return target_.ToString(); }

 private:
  kube::service::PortRange& target_;
};

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

}  // namespace

void ClusterOptions::AddFlags(flags::FlagSet& flags) {
  flags.String("service-cluster-ip-range", service_cluster_ip_range,
               "A CIDR range from which services get their cluster addresses, or two of them, one "
               "for each IP family, separated by a comma. No pod may have an address in it.");
  flags.Add("service-node-port-range", 0, std::make_unique<PortRangeFlag>(service_node_port_range),
            "The ports that services may have on every node, both ends included: 30000-32767.");
  flags.Int(
      "kubernetes-service-node-port", kubernetes_service_node_port,
      "The port on every node under which the service \"kubernetes\" is reached; 0 makes it a "
      "service with a cluster address only.");
  flags.String("endpoint-reconciler-type", endpoint_reconciler_type,
               "Whether this server lists itself as an endpoint of the service \"kubernetes\": "
               "lease or master-count does, none does not.");
  flags.Duration("event-ttl", event_ttl, "How long events are kept.");
  flags.Bool("allow-privileged", allow_privileged,
             "Whether containers may be privileged: ask for all there is on their node.");
}

std::vector<IpPrefix> ClusterOptions::service_ranges() const {
  std::vector<IpPrefix> ranges;
  for (const auto text : Split(service_cluster_ip_range)) {
    if (auto range = IpPrefix::Parse(text)) ranges.push_back(*range);
  }
  return ranges;
}

std::vector<std::string> ClusterOptions::Validate() const {
  constexpr int kMostHostBits = 20;
  std::vector<std::string> errors;
  const auto ranges = service_ranges();
  const auto given = Split(service_cluster_ip_range);
  if (given.size() > 2) {
    errors.emplace_back("--service-cluster-ip-range must not contain more than two entries");
  } else if (ranges.empty() || ranges.size() != given.size()) {
    errors.emplace_back("--service-cluster-ip-range must contain at least one valid cidr");
  }
  if (ranges.size() == 2 && ranges[0].address.family() == ranges[1].address.family()) {
    errors.emplace_back(
        "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP "
        "family");
  }
  for (const auto& range : ranges) {
    const int host_bits = range.address.bits() - range.length;
    if (range.address.is_v4() && host_bits > kMostHostBits) {
      errors.emplace_back(fmt::format(
          "specified --service-cluster-ip-range is too large; for 32-bit addresses, the mask must "
          "be >= {}",
          range.address.bits() - kMostHostBits));
    }
  }
  if (kubernetes_service_node_port < 0 || kubernetes_service_node_port > 65535) {
    errors.push_back(fmt::format(
        "--kubernetes-service-node-port {} must be between 0 and 65535, inclusive. If 0, the "
        "Kubernetes master service will be of type ClusterIP",
        kubernetes_service_node_port));
  } else if (kubernetes_service_node_port > 0 &&
             !service_node_port_range.Contains(static_cast<int>(kubernetes_service_node_port))) {
    errors.push_back(fmt::format("kubernetes service node port range {} doesn't contain {}",
                                 service_node_port_range.ToString(), kubernetes_service_node_port));
  }
  if (std::ranges::find(kReconcilers, endpoint_reconciler_type) == std::end(kReconcilers)) {
    errors.push_back(
        fmt::format("unsupported endpoint reconciler type: {}", endpoint_reconciler_type));
  }
  return errors;
}

}  // namespace keelson::app
