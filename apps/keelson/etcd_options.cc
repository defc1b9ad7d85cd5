#include "etcd_options.h"

#include "crypto/pem.h"

namespace keelson::app {

void EtcdOptions::AddFlags(flags::FlagSet& flags) {
  flags.StringSlice(
      "etcd-servers", servers,
      "Servers of an etcd cluster to keep everything in (scheme://ip:port), separated "
      "by commas. Without any, the embedded store in --data-dir is used.");
  flags.String("etcd-prefix", prefix, "What the keys of all objects in etcd begin with.");
  flags.String("etcd-cafile", ca_file,
               "Certificates of the authorities that sign etcd's certificates, in PEM.");
  flags.String("etcd-certfile", certificate_file,
               "The certificate this server shows to etcd, in PEM.");
  flags.String("etcd-keyfile", key_file, "The key of that certificate, in PEM.");
  flags.Duration("etcd-healthcheck-timeout", health_timeout,
                 "How long etcd may take to answer the health check.");
  flags.Duration("etcd-readycheck-timeout", ready_timeout,
                 "How long etcd may take to answer the readiness check.");
  flags.String("storage-backend", backend, "etcd3, or empty; there is no other kind of etcd.");
}

std::vector<std::string> EtcdOptions::Validate() const {
  std::vector<std::string> errors;
  if (!backend.empty() && backend != "etcd3") {
    errors.emplace_back(
        "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to "
        "'etcd3'");
  }
  if (certificate_file.empty() != key_file.empty()) {
    errors.emplace_back("--etcd-certfile and --etcd-keyfile go together");
  }
  if (used() && (!prefix.starts_with('/') || prefix.size() < 2 || prefix.ends_with('/'))) {
    errors.emplace_back("--etcd-prefix must begin with a slash and not end with one");
  }
  return errors;
}

Result<kv::EtcdStoreOptions> EtcdOptions::StoreOptions() const {
  kv::EtcdStoreOptions options{.urls = servers, .ca_pem = {}, .client_pair = {}};
  if (!ca_file.empty()) {
    TRY(options.ca_pem, crypto::ReadPemFile(ca_file));
  }
  if (!certificate_file.empty()) {
    TRY(options.client_pair.certificate_pem, crypto::ReadPemFile(certificate_file));
    TRY(options.client_pair.key_pem, crypto::ReadPemFile(key_file));
  }
  return options;
}

}  // namespace keelson::app
