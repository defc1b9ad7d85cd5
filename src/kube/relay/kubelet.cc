#include "kube/relay/kubelet.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "base/ip_address.h"
#include "kube/relay/targets.h"
#include "net/address.h"

namespace keelson::kube {
namespace {

Result<std::string> ReadFile(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return Fail(ErrorCode::kNotFound, "open {}: no such file or directory", path);
  }
  return text.str();
}

bool IsReachableByAll(const net::Address& address) {
  auto host = address.ToString();
  host.resize(host.rfind(':'));
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  auto ip = IpAddress::Parse(host);
  return ip && IsGlobalUnicast(*ip);
}

std::string KnownAddresses(const value::Value& node) {
  std::string text = "[";
  for (const auto& address : node["status"]["addresses"].items()) {
    if (text.size() > 1) text += ' ';
    text += fmt::format("{{{} {}}}", address["type"].AsString(), address["address"].AsString());
  }
  return text + "]";
}

}  // namespace

void KubeletOptions::AddFlags(flags::FlagSet& flags) {
  flags.String("kubelet-certificate-authority", certificate_authority,
               "File with the authority that kubelets' certificates are checked against.");
  flags.String("kubelet-client-certificate", client_certificate,
               "File with the certificate shown to kubelets.");
  flags.String("kubelet-client-key", client_key, "File with the key of that certificate.");
  flags.StringSlice("kubelet-preferred-address-types", preferred_address_types,
                    "Kinds of node addresses to reach kubelets by, best first.");
  flags.Uint("kubelet-port", port, "Port of kubelets whose nodes do not tell theirs.");
  flags.Duration("kubelet-timeout", timeout, "How long to try to connect to a kubelet.");
}

std::string KubeletAddress::authority() const {
  const bool brackets = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", host, brackets ? "]" : "", port);
}

ApiResult<KubeletAddress> FindKubelet(const value::Value& node, const KubeletOptions& options) {
  const auto told = node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"];
  const int64_t port =
      told.is_int() && told.AsInt() > 0 ? told.AsInt() : static_cast<int64_t>(options.port);
  for (const auto& type : options.preferred_address_types) {
    for (const auto& address : node["status"]["addresses"].items()) {
      if (address["type"].AsString() != type) continue;
      return KubeletAddress{std::string(address["address"].AsString()), std::to_string(port)};
    }
  }
  return std::unexpected(
      Status{.code = 500,
             .message = "no preferred addresses found; known addresses: " + KnownAddresses(node)});
}

Result<std::unique_ptr<Outbound>> Outbound::Create(KubeletOptions options, net::IoPool& pool) {
  http::ClientOptions kubelets;
  TRY(kubelets.tls.ca_pem, ReadFile(options.certificate_authority));
  TRY(kubelets.tls.client_pair.certificate_pem, ReadFile(options.client_certificate));
  TRY(kubelets.tls.client_pair.key_pem, ReadFile(options.client_key));
  kubelets.tls.verify_server = !kubelets.tls.ca_pem.empty();
  kubelets.connect_timeout = options.timeout;
  http::ClientOptions unverified = kubelets;
  unverified.tls.verify_server = false;
  http::ClientOptions proxied = kubelets;
  proxied.allow = IsReachableByAll;
  http::ClientOptions workloads;
  workloads.allow = IsReachableByAll;
  workloads.tls.verify_server = false;
  // Connections to pods end with the pods.
  workloads.max_idle_per_host = 2;

  std::unique_ptr<Outbound> outbound(new Outbound(std::move(options)));
  TRY(outbound->kubelets_, http::Client::Create(std::move(kubelets), pool));
  TRY(outbound->proxied_, http::Client::Create(std::move(proxied), pool));
  TRY(outbound->unverified_, http::Client::Create(std::move(unverified), pool));
  TRY(outbound->workloads_, http::Client::Create(std::move(workloads), pool));
  return outbound;
}

}  // namespace keelson::kube
