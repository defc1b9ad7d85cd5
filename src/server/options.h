#pragma once

// What a GenericApiServer can be told, as plain values with upstream's names and defaults.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/flags.h"
#include "base/result.h"
#include "server/lifecycle.h"

namespace keelson::server {

// --max-requests-inflight and the rest of upstream's generic section.
struct ServerRunOptions {
  std::string advertise_address;
  std::vector<std::string> cors_allowed_origins;
  std::string external_hostname;
  double goaway_chance = 0;
  Duration livez_grace_period{};
  int64_t max_mutating_requests_inflight = 200;
  int64_t max_requests_inflight = 400;
  int64_t min_request_timeout = 1800;  // seconds; honoured by watches
  Duration request_timeout = std::chrono::minutes(1);
  Duration shutdown_delay_duration{};
  bool shutdown_send_retry_after = false;
  Duration shutdown_watch_termination_grace_period{};
  std::vector<std::string> strict_transport_security_directives;

  void AddFlags(flags::FlagSet& flags);
  // Every complaint, in upstream's words.
  std::vector<std::string> Validate() const;
};

struct SecureServingOptions {
  std::string bind_address = "0.0.0.0";
  int64_t secure_port = 6443;
  std::string cert_dir = "/var/run/kubernetes";
  std::string tls_cert_file;
  std::string tls_private_key_file;
  std::vector<std::string> tls_cipher_suites;
  std::string tls_min_version;
  std::vector<std::string> tls_sni_cert_key;
  // Authentication flags that the handshake needs: whose certificates clients are asked for.
  std::string client_ca_file;
  std::string request_header_ca_file;
  bool disable_http2_serving = false;
  int64_t http2_max_streams_per_connection = 0;
  bool permit_port_sharing = false;
  bool permit_address_sharing = false;

  void AddFlags(flags::FlagSet& flags);
  std::vector<std::string> Validate() const;
};

struct FeatureOptions {
  bool profiling = true;
  bool contention_profiling = false;
  std::string debug_socket_path;
  // In code only, as upstream: no flag turns these.
  bool index = true;
  bool metrics = true;
  bool discovery = true;

  void AddFlags(flags::FlagSet& flags);
};

struct ServerOptions {
  ServerRunOptions run;
  FeatureOptions features;
  std::set<std::string> disabled_post_start_hooks;
  std::vector<std::string> api_audiences;
  Duration slow_request_threshold = std::chrono::milliseconds(500);

  LifecycleOptions lifecycle() const;
};

}  // namespace keelson::server
