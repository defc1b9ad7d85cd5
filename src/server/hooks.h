#pragma once

// Post-start hooks run once the listener is bound; pre-shutdown hooks run when asked to stop.
//
// Registration and running may happen on different threads; both sets are thread-safe. Hooks are
// coroutines on the server's executor and run concurrently, in no promised order.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <source_location>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/gate.h"
#include "base/result.h"
#include "base/task.h"

namespace keelson::server {

// How code inside the process reaches its own server, with all privileges.
struct LoopbackClientConfig {
  std::string host;         // "https://[::1]:6443"
  std::string server_name;  // what the loopback certificate is made for
  std::string ca_pem;
  std::string bearer_token;
  std::optional<WallTime> expires;  // of the loopback certificate
};

struct PostStartHookContext {
  std::shared_ptr<const LoopbackClientConfig> loopback;
  std::stop_token stop;  // requested when the server stops
};

using PostStartHook = std::function<Task<Result<void>>(PostStartHookContext)>;
using PreShutdownHook = std::function<Task<Result<void>>()>;

// A component that brings its own hook.
class PostStartHookProvider {
 public:
  virtual ~PostStartHookProvider() = default;
  virtual Result<std::pair<std::string, PostStartHook>> ProvidePostStartHook() = 0;
};

class PostStartHooks {
 public:
  struct Entry {
    std::string name;
    PostStartHook hook;
    std::source_location registered_at;
    std::shared_ptr<std::atomic<bool>> done = std::make_shared<std::atomic<bool>>(false);
  };

  explicit PostStartHooks(std::set<std::string> disabled = {}) : disabled_(std::move(disabled)) {}

  // Fails without a name or a function, for a name that is taken and once hooks have run. A
  // disabled hook is skipped with success. Returns the entry's completion flag, null if skipped.
  Result<std::shared_ptr<std::atomic<bool>>> Add(std::string name, PostStartHook hook,
                                                 std::source_location where);
  // Takes over a delegate's entry with its completion flag; a name already here stays as it is.
  void Inherit(const Entry& entry);
  bool Has(std::string_view name) const;
  std::vector<Entry> entries() const;

  // Starts every hook. A thrown exception is logged and leaves the hook unfinished only in its
  // log: like upstream, the health check turns ok. An error ends the process through `fatal`.
  using Fatal = std::function<void(std::string message)>;
  void Run(Gate& gate, Executor& executor, PostStartHookContext context, Fatal fatal);

 private:
  const std::set<std::string> disabled_;
  mutable std::mutex mutex_;
  bool called_ = false;
  std::vector<Entry> entries_;
};

class PreShutdownHooks {
 public:
  // Fails without a name, for a name that is taken and once hooks have run. Without a function
  // nothing is added.
  Result<void> Add(std::string name, PreShutdownHook hook);
  void Inherit(const PreShutdownHooks& other);

  // Runs all of them, one after another in order of registration, whatever each returns. The
  // errors come back joined.
  Task<Result<void>> Run();

 private:
  mutable std::mutex mutex_;
  bool called_ = false;
  std::vector<std::pair<std::string, PreShutdownHook>> entries_;
};

}  // namespace keelson::server
