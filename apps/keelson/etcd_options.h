#pragma once

// The flags about an etcd cluster, with upstream's names and defaults.

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/flags.h"
#include "base/result.h"
#include "kv/etcd/etcd_store.h"

namespace keelson::app {

struct EtcdOptions {
  std::vector<std::string> servers;  // empty: the embedded store is used
  std::string prefix = "/registry";
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  Duration health_timeout = std::chrono::seconds(2);
  Duration ready_timeout = std::chrono::seconds(2);
  std::string backend;

  void AddFlags(flags::FlagSet& flags);
  std::vector<std::string> Validate() const;

  bool used() const { return !servers.empty(); }
  // Reads the files named.
  Result<kv::EtcdStoreOptions> StoreOptions() const;
};

}  // namespace keelson::app
