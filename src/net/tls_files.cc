#include "net/tls_files.h"

#include <cerrno>
#include <fstream>
#include <iterator>

#include "base/log.h"

namespace keelson::net {
namespace {

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return FailErrno(errno, fmt::format("reading {}", path));
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (file.bad()) return Fail(ErrorCode::kIo, "reading {}", path);
  return bytes;
}

}  // namespace

Result<TlsServerOptions> TlsFiles::Read() const {
  TlsServerOptions options = files_.fixed;
  if (!files_.certificate_file.empty()) {
    TRY(options.default_pair.certificate_pem, ReadFile(files_.certificate_file));
    TRY(options.default_pair.key_pem, ReadFile(files_.key_file));
  }
  for (const auto& named : files_.sni) {
    TlsNamedKeyPair pair{.names = named.names};
    TRY(pair.pair.certificate_pem, ReadFile(named.certificate_file));
    TRY(pair.pair.key_pem, ReadFile(named.key_file));
    options.sni.push_back(std::move(pair));
  }
  for (const auto& path : files_.client_ca_files) {
    TRY(auto pem, ReadFile(path));
    options.client_ca_pem += pem;
    options.client_ca_pem += '\n';
  }
  return options;
}

std::string TlsFiles::Fingerprint(const TlsServerOptions& options) {
  std::string all = options.client_ca_pem;
  auto add = [&all](const TlsKeyPair& pair) {
    all += '\0' + pair.certificate_pem + '\0' + pair.key_pem;
  };
  add(options.default_pair);
  for (const auto& named : options.sni) add(named.pair);
  // Keys are not kept twice in memory: their hash tells a change as well.
  return std::to_string(std::hash<std::string>{}(all)) + "/" + std::to_string(all.size());
}

Result<std::unique_ptr<TlsFiles>> TlsFiles::Create(TlsFileSet files, Clock& clock) {
  std::unique_ptr<TlsFiles> self(new TlsFiles(std::move(files), clock));
  TRY(auto options, self->Read());
  TRY(auto context, TlsContext::Server(options));
  self->holder_ = std::make_shared<TlsContextHolder>(std::move(context));
  self->seen_ = Fingerprint(options);
  return self;
}

bool TlsFiles::Refresh() {
  std::lock_guard lock(mutex_);
  auto options = Read();
  auto seen = options ? Fingerprint(*options) : options.error().message;
  if (seen == seen_) return false;
  seen_ = std::move(seen);
  auto context = options ? TlsContext::Server(*options) : std::unexpected(options.error());
  if (!context) {
    log::ErrorS("Keeping the current TLS certificates: the changed files are not usable",
                {{"err", context.error().message}});
    return false;
  }
  holder_->Set(*std::move(context));
  log::InfoS("Reloaded TLS certificates", {{"cert", files_.certificate_file}});
  return true;
}

void TlsFiles::Start() {
  std::lock_guard lock(mutex_);
  if (std::exchange(running_, true)) return;
  ScheduleNext();
}

void TlsFiles::ScheduleNext() {
  timer_ = clock_.Schedule(clock_.Now() + kInterval, [this] {
    Refresh();
    std::lock_guard lock(mutex_);
    if (running_) {
      ScheduleNext();
    } else {
      timer_ = 0;
      stopped_.notify_all();
    }
  });
}

void TlsFiles::Stop() {
  std::unique_lock lock(mutex_);
  if (!std::exchange(running_, false)) return;
  if (clock_.Cancel(timer_)) return;
  // The callback is under way on the clock's thread: it must not outlive this object.
  stopped_.wait(lock, [this] { return timer_ == 0; });
}

}  // namespace keelson::net
