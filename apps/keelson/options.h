#pragma once

// The command line of keelson.

#include <cstdint>
#include <string>
#include <vector>

#include "base/flags.h"
#include "kube/relay/kubelet.h"
#include "server/options.h"
#include "storage.h"

namespace keelson::app {

struct Options {
  server::ServerRunOptions run;
  server::SecureServingOptions serving;
  server::FeatureOptions features;
  std::string data_dir = DefaultDataFolder();
  bool anonymous_auth = true;
  std::vector<std::string> api_audiences;
  std::string token_auth_file;
  std::vector<std::string> authorization_mode = {"AlwaysAllow"};
  kube::KubeletOptions kubelet;
  uint64_t verbosity = 0;
  std::string version;  // "", "true" or "raw"
  bool help = false;

  void AddFlags(flags::FlagSet& flags);
  std::vector<std::string> Validate() const;
};

}  // namespace keelson::app
