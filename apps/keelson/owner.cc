#include "owner.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/flags.h"
#include "base/log.h"
#include "crypto/base64.h"
#include "crypto/pem.h"
#include "storage.h"

namespace keelson::app {
namespace {

using crypto::CertificateRequest;
using crypto::ExtendedKeyUsage;
using crypto::FileAccess;

constexpr auto kClockSkew = std::chrono::hours(1);
constexpr auto kAuthorityLife = std::chrono::hours(24 * 3653);
constexpr auto kLeafLife = std::chrono::hours(24 * 365);
constexpr Duration kLookInterval = std::chrono::hours(1);
constexpr std::string_view kAuthorityName = "keelson-ca";

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

Result<crypto::Certificate> ReadCertificate(const std::string& path) {
  TRY(auto pem, crypto::ReadPemFile(path));
  TRY(auto ders, crypto::CertificateDersFromPem(pem));
  return crypto::ParseCertificate(ders.front());
}

bool RunsOut(const crypto::Certificate& certificate, crypto::CertificateTime now) {
  const auto life = certificate.not_after - certificate.not_before;
  return certificate.not_after - now <= life / 3;
}

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string();
}

bool IsAddress(const std::string& host) {
  return !host.empty() && host.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos &&
         (host.find(':') != std::string::npos || std::ranges::count(host, '.') == 3);
}

void AppendKubeconfig(std::string& out, std::string_view url, std::string_view ca_pem,
                      std::string_view user, std::string_view certificate_pem,
                      std::string_view key_pem) {
  out += fmt::format(
      "apiVersion: v1\nkind: Config\n"
      "clusters:\n- name: keelson\n  cluster:\n    server: {}\n"
      "    certificate-authority-data: {}\n"
      "users:\n- name: \"{}\"\n  user:\n    client-certificate-data: {}\n    client-key-data: {}\n"
      "contexts:\n- name: keelson\n  context:\n    cluster: keelson\n    user: \"{}\"\n"
      "current-context: keelson\n",
      url, crypto::Base64Encode(ca_pem), user, crypto::Base64Encode(certificate_pem),
      crypto::Base64Encode(key_pem), user);
}

// A name that stands in double quotes in YAML without being misread.
bool IsPlainName(std::string_view name) {
  return !name.empty() && std::ranges::none_of(name, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == 0x7f;
  });
}

}  // namespace

std::string OwnerFiles::Path(std::string_view name) const {
  return options_.folder + "/pki/" + std::string(name);
}

crypto::CertificateTime OwnerFiles::Now() const {
  return std::chrono::floor<std::chrono::seconds>(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(clock_->WallNow()));
}

Result<OwnerFiles> OwnerFiles::Open(Options options, const Clock& clock) {
  OwnerFiles files(std::move(options), clock);
  std::error_code failure;
  std::filesystem::create_directories(files.options_.folder + "/pki", failure);
  if (failure) return FailErrno(failure.value(), "creating " + files.options_.folder + "/pki");
  ::chmod((files.options_.folder + "/pki").c_str(), 0700);
  TRY_VOID(files.OpenAccountKey());
  TRY_VOID(files.Renew());
  return files;
}

Result<void> OwnerFiles::Renew() const {
  TRY(auto authority, OpenAuthority());
  TRY_VOID(OpenServing(authority));
  return OpenAdmin(authority);
}

// An authority that runs out goes on under the same name and key, so that what it has signed and
// those who trust it stay valid.
Result<crypto::CertificateAuthority> OwnerFiles::OpenAuthority() const {
  const auto now = Now();
  CertificateRequest request{.common_name = std::string(kAuthorityName),
                             .not_before = now - kClockSkew,
                             .not_after = now + kAuthorityLife};
  const auto key_file = Path("ca.key");
  if (!Exists(key_file)) {
    TRY(auto authority, crypto::CertificateAuthority::Create(std::move(request)));
    TRY_VOID(authority.key().Save(key_file));
    TRY_VOID(crypto::WriteFileAtomically(ca_file(), crypto::CertificateToPem(authority.der()),
                                         FileAccess::kSecret));
    return authority;
  }
  TRY(auto key, crypto::PrivateKey::FromFile(key_file));
  TRY(auto pem, crypto::ReadPemFile(ca_file()));
  TRY(auto authority, crypto::CertificateAuthority::Load(pem, key));
  TRY(auto certificate, crypto::ParseCertificate(authority.der()));
  if (!RunsOut(certificate, now)) return authority;
  request.common_name = certificate.subject.common_name;
  request.organizations = certificate.subject.organizations;
  TRY(auto renewed, crypto::CertificateAuthority::Create(std::move(request), key));
  TRY_VOID(crypto::WriteFileAtomically(ca_file(), crypto::CertificateToPem(renewed.der()),
                                       FileAccess::kSecret));
  log::InfoS("Renewed the certificate authority", {{"path", ca_file()}});
  return renewed;
}

Result<void> OwnerFiles::Issue(const crypto::CertificateAuthority& authority,
                               const CertificateRequest& request, std::string_view name) const {
  const auto certificate_file = Path(std::string(name) + ".crt");
  const auto key_file = Path(std::string(name) + ".key");
  const bool renewed = Exists(key_file);
  // The key stays: a reader that sees the new certificate with the old key still has a pair.
  auto key = renewed ? crypto::PrivateKey::FromFile(key_file)
                     : crypto::PrivateKey::Generate(crypto::KeyKind::kP256);
  if (!key) return std::unexpected(key.error());
  TRY(auto der, authority.Issue(request, key->Public()));
  if (!renewed) TRY_VOID(key->Save(key_file));
  TRY_VOID(crypto::WriteFileAtomically(
      certificate_file, crypto::CertificateToPem(der) + crypto::CertificateToPem(authority.der()),
      FileAccess::kSecret));
  if (renewed) log::InfoS("Renewed a certificate", {{"path", certificate_file}});
  return {};
}

Result<void> OwnerFiles::OpenServing(const crypto::CertificateAuthority& authority) const {
  const auto now = Now();
  CertificateRequest request{
      .common_name = "kube-apiserver",
      .dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                    "kubernetes.default.svc.cluster.local"},
      .ip_addresses = {"127.0.0.1", "::1"},
      .not_before = now - kClockSkew,
      .not_after = now + kLeafLife,
      .extended_key_usages = {ExtendedKeyUsage::kServerAuth}};
  const auto add = [&](const std::string& host) {
    if (host.empty()) return;
    auto& names = IsAddress(host) ? request.ip_addresses : request.dns_names;
    if (std::ranges::find(names, host) == names.end()) names.push_back(host);
  };
  add(HostName());
  add(options_.public_address);
  add(options_.external_name);

  if (Exists(serving_certificate_file())) {
    TRY(auto certificate, ReadCertificate(serving_certificate_file()));
    const auto covers = [&](const std::string& host) { return certificate.Covers(host); };
    if (!RunsOut(certificate, now) && std::ranges::all_of(request.dns_names, covers) &&
        std::ranges::all_of(request.ip_addresses, covers)) {
      return {};
    }
  }
  return Issue(authority, request, "apiserver");
}

Result<void> OwnerFiles::OpenAdmin(const crypto::CertificateAuthority& authority) const {
  const auto now = Now();
  if (Exists(Path("admin.crt"))) {
    TRY(auto certificate, ReadCertificate(Path("admin.crt")));
    if (!RunsOut(certificate, now)) return {};
  }
  return Issue(authority,
               {.common_name = "admin",
                .organizations = {"system:masters"},
                .not_before = now - kClockSkew,
                .not_after = now + kLeafLife,
                .extended_key_usages = {ExtendedKeyUsage::kClientAuth}},
               "admin");
}

Result<void> OwnerFiles::OpenAccountKey() const {
  if (Exists(account_key_file())) return {};
  TRY(auto key, crypto::PrivateKey::Generate(crypto::KeyKind::kP256));
  TRY_VOID(crypto::WriteFileAtomically(Path("sa.pub"), key.Public().ToPem(), FileAccess::kSecret));
  return key.Save(account_key_file());
}

Result<void> OwnerFiles::WriteKubeconfig(std::string_view url) const {
  TRY(auto ca, crypto::ReadPemFile(ca_file()));
  TRY(auto certificate, crypto::ReadPemFile(Path("admin.crt")));
  TRY(auto key, crypto::ReadPemFile(Path("admin.key")));
  std::string text;
  AppendKubeconfig(text, url, ca, "admin", certificate, key);
  if (auto there = crypto::ReadPemFile(kubeconfig_file()); there && *there == text) return {};
  return crypto::WriteFileAtomically(kubeconfig_file(), text, FileAccess::kSecret);
}

Result<std::string> OwnerFiles::NewKubeconfig(std::string_view url, std::string user,
                                              std::vector<std::string> groups) const {
  if (!IsPlainName(user)) return Fail(ErrorCode::kInvalid, "a user name is needed: --user NAME");
  TRY(auto authority, OpenAuthority());
  TRY(auto key, crypto::PrivateKey::Generate(crypto::KeyKind::kP256));
  const auto now = Now();
  TRY(auto der, authority.Issue({.common_name = user,
                                 .organizations = std::move(groups),
                                 .not_before = now - kClockSkew,
                                 .not_after = now + kLeafLife,
                                 .extended_key_usages = {ExtendedKeyUsage::kClientAuth}},
                                key.Public()));
  TRY(auto ca, crypto::ReadPemFile(ca_file()));
  std::string text;
  AppendKubeconfig(text, url, ca, user, crypto::CertificateToPem(der), key.ToPem());
  return text;
}

struct OwnerRenewal::State {
  const OwnerFiles& files;
  std::string url;
  Clock& clock;
  Executor& executor;
  std::mutex mutex;  // held while files are looked at
  bool stopped = false;
};

OwnerRenewal::OwnerRenewal(const OwnerFiles& files, std::string url, Clock& clock,
                           Executor& executor)
    : state_(new State{files, std::move(url), clock, executor}) {
  Schedule(state_);
}

OwnerRenewal::~OwnerRenewal() {
  std::lock_guard lock(state_->mutex);
  state_->stopped = true;
}

void OwnerRenewal::Schedule(const std::shared_ptr<State>& state) {
  const auto look = [](const std::shared_ptr<State>& state) {
    {
      std::lock_guard lock(state->mutex);
      if (state->stopped) return;
      auto renewed = state->files.Renew();
      if (renewed && Exists(state->files.kubeconfig_file())) {
        renewed = state->files.WriteKubeconfig(state->url);
      }
      if (!renewed) {
        log::ErrorS("Failed to renew certificates", {{"err", renewed.error().message}});
      }
    }
    Schedule(state);
  };
  state->clock.Schedule(state->clock.Now() + kLookInterval,
                        [weak = std::weak_ptr<State>(state), look] {
                          auto state = weak.lock();
                          if (state == nullptr) return;
                          state->executor.Post([state, look] { look(state); });
                        });
}

int RunKubeconfigCommand(std::vector<std::string_view> arguments) {
  std::string user;
  std::vector<std::string> groups;
  std::string url = "https://localhost:6443";
  std::string data_dir = DefaultDataFolder();
  flags::FlagSet flags("keelson kubeconfig");
  flags.BeginSection("Kubeconfig");
  flags.String("user", user, "Who it is for.");
  flags.StringSlice("group", groups, "Groups the user is in.");
  flags.String("server", url, "Where the server is reached.");
  flags.String("data-dir", data_dir, "The server's data folder.");
  auto positional = flags.Parse(arguments);
  if (flags.help_requested()) {
    fmt::print("{}", flags.Help("Makes a kubeconfig for somebody, on a client certificate."));
    return 0;
  }
  SystemClock clock;
  const auto make = [&]() -> Result<std::string> {
    if (!positional) return std::unexpected(positional.error());
    if (!positional->empty()) {
      return Fail(ErrorCode::kInvalid, "unexpected argument {}", positional->front());
    }
    TRY(auto files, OwnerFiles::Open({.folder = data_dir}, clock));
    return files.NewKubeconfig(url, user, groups);
  };
  auto text = make();
  if (!text) {
    fmt::print(stderr, "Error: {}\n", text.error().message);
    return 1;
  }
  fmt::print("{}", *text);
  return 0;
}

}  // namespace keelson::app
