#pragma once

// The owner gets in: what a server makes for itself, below its data folder, so that it can be used
// at once and only by its owner.
//
//   pki/ca.crt, ca.key              the authority for everything below, good for ten years
//   pki/apiserver.crt, .key         what is served with
//   pki/sa.key, sa.pub              sign and verify service account tokens
//   pki/admin.crt, .key             the owner, a member of system:masters
//   admin.kubeconfig                the same for kubectl
//
// All are readable by their owner alone. A file that is there is used; certificates are made anew
// when a third of their life or less is left, or when they no longer name this machine. Whoever
// serves from the files follows them, so no restart is needed.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "crypto/issue.h"

namespace keelson::app {

class OwnerFiles {
 public:
  struct Options {
    std::string folder;          // --data-dir
    std::string public_address;  // an address or name of this machine; may be empty
    std::string external_name;   // another one
  };

  // Makes what is missing or about to expire.
  static Result<OwnerFiles> Open(Options options, const Clock& clock);

  std::string ca_file() const { return Path("ca.crt"); }
  std::string serving_certificate_file() const { return Path("apiserver.crt"); }
  std::string serving_key_file() const { return Path("apiserver.key"); }
  std::string account_key_file() const { return Path("sa.key"); }
  std::string kubeconfig_file() const { return options_.folder + "/admin.kubeconfig"; }

  // Looks at the certificates again. Cheap when there is nothing to do.
  Result<void> Renew() const;
  // Writes admin.kubeconfig for a server at `url`, unless it says the same already.
  Result<void> WriteKubeconfig(std::string_view url) const;
  // A kubeconfig for somebody else, on a certificate of its own, good for a year.
  Result<std::string> NewKubeconfig(std::string_view url, std::string user,
                                    std::vector<std::string> groups) const;

 private:
  OwnerFiles(Options options, const Clock& clock) : options_(std::move(options)), clock_(&clock) {}

  std::string Path(std::string_view name) const;
  Result<crypto::CertificateAuthority> OpenAuthority() const;
  Result<void> OpenServing(const crypto::CertificateAuthority& authority) const;
  Result<void> OpenAdmin(const crypto::CertificateAuthority& authority) const;
  Result<void> OpenAccountKey() const;
  Result<void> Issue(const crypto::CertificateAuthority& authority,
                     const crypto::CertificateRequest& request, std::string_view name) const;
  crypto::CertificateTime Now() const;

  Options options_;
  const Clock* clock_;
};

// Keeps the certificates valid while the server runs: looks once an hour, on `executor`.
class OwnerRenewal {
 public:
  // All outlive it.
  OwnerRenewal(const OwnerFiles& files, std::string url, Clock& clock, Executor& executor);
  ~OwnerRenewal();

 private:
  struct State;
  static void Schedule(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

// `keelson kubeconfig --user NAME [--group G] [--server URL] [--data-dir DIR]`: prints one.
int RunKubeconfigCommand(std::vector<std::string_view> arguments);

}  // namespace keelson::app
