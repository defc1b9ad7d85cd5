#pragma once

// How the server reaches kubelets, and what runs on their nodes.
//
// Kubelets are asked as the server itself, with its client certificate; pods and services get no
// credentials and may show any certificate, as nobody vouches for theirs.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/flags.h"
#include "base/result.h"
#include "base/status.h"
#include "http/client.h"
#include "net/io_thread.h"
#include "value/value.h"

namespace keelson::kube {

struct KubeletOptions {
  std::string certificate_authority;  // file; without one, kubelets may show any certificate
  std::string client_certificate;     // files
  std::string client_key;
  std::vector<std::string> preferred_address_types = {"Hostname", "InternalDNS", "InternalIP",
                                                      "ExternalDNS", "ExternalIP"};
  uint64_t port = 10250;  // of nodes that do not tell theirs
  Duration timeout = std::chrono::seconds(5);

  void AddFlags(flags::FlagSet& flags);
};

// Where a kubelet listens: "node-1:10250".
struct KubeletAddress {
  std::string host;
  std::string port;
  std::string authority() const;  // with brackets where the host needs them
};

// By the node's own status. Fails when none of its addresses is of a preferred kind.
ApiResult<KubeletAddress> FindKubelet(const value::Value& node, const KubeletOptions& options);

// The clients for everything outside. Made once, used on the io threads.
class Outbound {
 public:
  // Reads the files. The pool outlives it.
  static Result<std::unique_ptr<Outbound>> Create(KubeletOptions options, net::IoPool& pool);

  const KubeletOptions& options() const { return options_; }
  http::Client& kubelets() const { return *kubelets_; }
  // For proxies of nodes, whose status anybody who may write it could point at this machine.
  http::Client& proxied_kubelets() const { return *proxied_; }
  // For readers of logs who do not care whom they come from.
  http::Client& unverified_kubelets() const { return *unverified_; }
  http::Client& workloads() const { return *workloads_; }

 private:
  explicit Outbound(KubeletOptions options) : options_(std::move(options)) {}

  const KubeletOptions options_;
  std::unique_ptr<http::Client> kubelets_;
  std::unique_ptr<http::Client> proxied_;
  std::unique_ptr<http::Client> unverified_;
  std::unique_ptr<http::Client> workloads_;
};

}  // namespace keelson::kube
