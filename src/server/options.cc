#include "server/options.h"

#include <re2/re2.h>

#include <algorithm>

namespace keelson::server {
namespace {

// The complaint about one CORS origin, or nothing. An expression that is not pinned to both ends of
// the host would let an attacker's domain contain a good one (CVE-2022-1996).
std::string OriginFault(const std::string& origin) {
  RE2 pattern(origin, RE2::Quiet);
  if (!pattern.ok()) return "error parsing regexp: " + pattern.error();
  auto has = [&](std::string_view part) { return origin.find(part) != std::string::npos; };
  if ((has("^") || has("//")) && (has("$") || has(":"))) return "";
  return "regular expression does not pin to start/end of host in the origin header";
}

constexpr std::string_view kCorsHelp =
    "Comma-separated origins that browsers may call from, each a regular expression for the whole "
    "host: begin with '^' or '//' and end with '$' or ':'. Empty turns CORS off. Examples: "
    "'//example\\.com(:|$)', '^https://example\\.com(:|$)'";

bool KnownHstsDirective(const std::string& directive) {
  if (directive == "includeSubDomains" || directive == "preload") return true;
  return directive.starts_with("max-age=") &&
         std::count(directive.begin(), directive.end(), '=') == 1;
}

}  // namespace

void ServerRunOptions::AddFlags(flags::FlagSet& flags) {
  flags.Ip("advertise-address", advertise_address,
           "The address other members of the cluster reach this server at. Defaults to "
           "--bind-address, or to the host's own when that is unspecified.");
  flags.StringSlice("cors-allowed-origins", cors_allowed_origins, std::string(kCorsHelp));
  flags.String("external-hostname", external_hostname,
               "The host name in URLs this server hands out.");
  flags.Float("goaway-chance", goaway_chance,
              "Fraction of HTTP/2 requests after which the client is asked to reconnect (GOAWAY), "
              "so that load spreads over servers behind a balancer. From 0 (off) to 0.02; do not "
              "use with a single server.");
  flags.Duration("livez-grace-period", livez_grace_period,
                 "How long after start /livez takes unfinished post-start hooks for healthy.");
  flags.Int("max-mutating-requests-inflight", max_mutating_requests_inflight,
            "How many mutating requests are served at once; 0 for no limit.");
  flags.Int("max-requests-inflight", max_requests_inflight,
            "How many non-mutating requests are served at once; 0 for no limit.");
  flags.Int("min-request-timeout", min_request_timeout,
            "The least number of seconds a watch is kept open; each gets a random time above it.");
  flags.Duration("request-timeout", request_timeout,
                 "How long a request may take before it is answered with a timeout.");
  flags.Duration("shutdown-delay-duration", shutdown_delay_duration,
                 "How long to go on serving after being asked to stop, with /readyz failing, so "
                 "that balancers look away first.");
  flags.Bool("shutdown-send-retry-after", shutdown_send_retry_after,
             "Keep listening until running requests have ended, answering new ones with 429, "
             "Retry-After and Connection: close.");
  flags.Duration("shutdown-watch-termination-grace-period", shutdown_watch_termination_grace_period,
                 "How long to wait at shutdown for watches, which are ended one after another.");
  flags.StringSlice("strict-transport-security-directives", strict_transport_security_directives,
                    "Directives of the Strict-Transport-Security header; none, no header. Example: "
                    "'max-age=31536000,includeSubDomains,preload'");
}

std::vector<std::string> ServerRunOptions::Validate() const {
  std::vector<std::string> errors;
  auto require = [&](bool ok, std::string_view complaint) {
    if (!ok) errors.emplace_back(complaint);
  };
  constexpr auto kZero = Duration::zero();
  require(livez_grace_period >= kZero, "--livez-grace-period can not be a negative value");
  require(max_requests_inflight >= 0, "--max-requests-inflight can not be negative value");
  require(max_mutating_requests_inflight >= 0,
          "--max-mutating-requests-inflight can not be negative value");
  require(request_timeout >= kZero, "--request-timeout can not be negative value");
  require(goaway_chance >= 0 && goaway_chance <= 0.02,
          "--goaway-chance can not be less than 0 or greater than 0.02");
  require(min_request_timeout >= 0, "--min-request-timeout can not be negative value");
  require(shutdown_delay_duration >= kZero, "--shutdown-delay-duration can not be negative value");
  require(shutdown_watch_termination_grace_period >= kZero,
          "shutdown-watch-termination-grace-period, if provided, can not be a negative value");
  for (const auto& directive : strict_transport_security_directives) {
    if (directive.find_first_not_of(" \t") == std::string::npos) {
      errors.emplace_back("empty value in strict-transport-security-directives");
    } else if (!KnownHstsDirective(directive)) {
      errors.emplace_back(
          "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, "
          "includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for "
          "more information");
    }
  }
  for (const auto& origin : cors_allowed_origins) {
    if (origin.empty()) {
      errors.push_back(fmt::format("empty value in --cors-allowed-origins, help: {}", kCorsHelp));
    } else if (auto fault = OriginFault(origin); !fault.empty()) {
      errors.push_back(
          fmt::format("--cors-allowed-origins has an invalid regular expression: {}, help: {}",
                      fault, kCorsHelp));
    }
  }
  return errors;
}

void SecureServingOptions::AddFlags(flags::FlagSet& flags) {
  flags.Ip("bind-address", bind_address,
           "The address to listen on; unspecified (0.0.0.0 or ::) is every interface and both "
           "families.");
  flags.String("cert-dir", cert_dir,
               "Where the serving certificate is kept when none is given: found there or made.");
  flags.Bool("disable-http2-serving", disable_http2_serving, "Serve HTTP/1.1 only.");
  flags.Int("http2-max-streams-per-connection", http2_max_streams_per_connection,
            "How many requests an HTTP/2 client may have open on one connection; 0 for the "
            "default, 250.");
  flags.Bool("permit-address-sharing", permit_address_sharing,
             "Bind with SO_REUSEADDR: do not wait for sockets in TIME_WAIT.");
  flags.Bool("permit-port-sharing", permit_port_sharing,
             "Bind with SO_REUSEPORT: several processes may listen on the same port.");
  flags.Int("secure-port", secure_port, "The port to serve HTTPS on. It cannot be switched off.");
  flags.String("tls-cert-file", tls_cert_file,
               "The serving certificate, followed by its CA's, in PEM. Without it and "
               "--tls-private-key-file a self-signed one is made in --cert-dir.");
  flags.StringSlice("tls-cipher-suites", tls_cipher_suites,
                    "Names of the cipher suites to offer, as IANA spells them; none, a sound "
                    "default.");
  flags.String("tls-min-version", tls_min_version,
               "The oldest TLS version to accept: VersionTLS12 or VersionTLS13.");
  flags.String("tls-private-key-file", tls_private_key_file,
               "The private key of --tls-cert-file, in PEM.");
  flags.StringArray(
      "tls-sni-cert-key", tls_sni_cert_key,
      "A further certificate and key, for clients that ask for certain names: "
      "\"cert.pem,key.pem\" or \"cert.pem,key.pem:*.example.com,example.com\". May be "
      "given several times.");
}

std::vector<std::string> SecureServingOptions::Validate() const {
  std::vector<std::string> errors;
  if (secure_port < 1 || secure_port > 65535) {
    errors.push_back(
        fmt::format("--secure-port {} must be between 1 and 65535, inclusive. It "
                    "cannot be turned off with 0",
                    secure_port));
  }
  if (tls_cert_file.empty() != tls_private_key_file.empty()) {
    errors.emplace_back("--tls-cert-file and --tls-private-key-file must be given together");
  }
  return errors;
}

void FeatureOptions::AddFlags(flags::FlagSet& flags) {
  flags.Bool("contention-profiling", contention_profiling,
             "Accepted for compatibility; there is no block profile.");
  flags.String("debug-socket-path", debug_socket_path,
               "Serve profiles and log verbosity, without any protection, on a Unix socket here.");
  flags.Bool("profiling", profiling, "Serve profiles under /debug/pprof/.");
}

LifecycleOptions ServerOptions::lifecycle() const {
  return {.shutdown_delay = run.shutdown_delay_duration,
          .request_timeout = run.request_timeout,
          .watch_termination_grace = run.shutdown_watch_termination_grace_period,
          .send_retry_after = run.shutdown_send_retry_after};
}

}  // namespace keelson::server
