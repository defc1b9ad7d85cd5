#pragma once

// Serving certificates and client CAs from files, followed as they change on disk.
//
// The files are read at Create (a bad one is an error then) and looked at again every interval. A
// change that makes a valid set replaces the context for new connections; a bad one is logged once
// and the old context stays. The stop order is: Stop, then destroy; the holder may outlive both.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/tls_context.h"

namespace keelson::net {

struct TlsFileSet {
  struct Named {
    std::string certificate_file;
    std::string key_file;
    std::vector<std::string> names;
  };
  std::string certificate_file;  // empty: `fixed.default_pair` is used
  std::string key_file;
  std::vector<Named> sni;                    // after those of `fixed`
  std::vector<std::string> client_ca_files;  // their union, with that of `fixed`
  TlsServerOptions fixed;                    // everything that does not come from files
};

class TlsFiles {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(2);

  static Result<std::unique_ptr<TlsFiles>> Create(TlsFileSet files, Clock& clock);
  ~TlsFiles() { Stop(); }

  const std::shared_ptr<TlsContextHolder>& holder() const { return holder_; }

  void Start();
  void Stop();

  // Looks at the files now. Returns true when a new context took over. Thread-safe.
  bool Refresh();

 private:
  TlsFiles(TlsFileSet files, Clock& clock) : files_(std::move(files)), clock_(clock) {}
  Result<TlsServerOptions> Read() const;
  static std::string Fingerprint(const TlsServerOptions& options);
  void ScheduleNext();

  const TlsFileSet files_;
  Clock& clock_;
  std::shared_ptr<TlsContextHolder> holder_;

  std::mutex mutex_;  // guards what follows
  std::string seen_;  // the contents last tried, or the error last logged
  bool running_ = false;
  Clock::TimerId timer_ = 0;
  std::condition_variable stopped_;
};

}  // namespace keelson::net
