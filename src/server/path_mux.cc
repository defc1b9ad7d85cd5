#include "server/path_mux.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "base/quote.h"
#include "base/result.h"
#include "server/reply.h"

namespace keelson::server {
namespace {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using EndpointMap =
    std::unordered_map<std::string, std::shared_ptr<Endpoint>, TextHash, std::equal_to<>>;

size_t Slashes(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '/'));
}

uint64_t NextVersion() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

class PlainNotFound final : public Endpoint {
 public:
  Pending Serve(RequestContext& context) override {
    SendNotFound(context);
    return std::nullopt;
  }
};

// Keeps an endpoint alive until its task is done, even if its path is unregistered meanwhile.
Task<void> Holding(std::shared_ptr<Endpoint> endpoint, Task<void> task) {
  co_await std::move(task);
}

}  // namespace

struct PathMux::Table {
  EndpointMap services;
  size_t deepest_service = 0;
  EndpointMap exact;
  std::vector<std::pair<std::string, std::shared_ptr<Endpoint>>> prefixes;  // most specific first
  std::shared_ptr<Endpoint> not_found;

  const std::shared_ptr<Endpoint>* FindService(std::string_view path) const {
    if (services.empty()) return nullptr;
    // Cut at each slash below the deepest root, longest first.
    size_t cuts[16];
    size_t count = 0;
    for (size_t i = 1; i < path.size() && count < deepest_service && count < 16; ++i) {
      if (path[i] == '/') cuts[count++] = i;
    }
    if (count < deepest_service) cuts[count++] = path.size();
    while (count > 0) {
      auto root = path.substr(0, cuts[--count]);
      auto found = services.find(root);
      if (found == services.end()) continue;
      if (root == "/apis" && path.size() > root.size() + 1) continue;
      return &found->second;
    }
    return nullptr;
  }

  const std::shared_ptr<Endpoint>& Find(std::string_view path) const {
    if (const auto* service = FindService(path)) return *service;
    if (auto found = exact.find(path); found != exact.end()) return found->second;
    for (const auto& [prefix, endpoint] : prefixes) {
      if (path.starts_with(prefix)) return endpoint;
    }
    return not_found;
  }
};

PathMux::PathMux() : not_found_(std::make_shared<PlainNotFound>()) { Publish(); }

void PathMux::Register(Entries& entries, std::string path, Entry entry) {
  std::lock_guard lock(mutex_);
  auto found = entries.find(path);
  if (found != entries.end()) {
    const auto& first = found->second.where;
    log::Error(
        "duplicate path registration of {}: original registration from {}:{}, new "
        "registration from {}:{}",
        Quote(path), first.file_name(), first.line(), entry.where.file_name(), entry.where.line());
  }
  entries.insert_or_assign(std::move(path), std::move(entry));
  Publish();
}

void PathMux::Handle(std::string path, std::shared_ptr<Endpoint> endpoint, Listed listed,
                     std::source_location where) {
  Register(exact_, std::move(path), {std::move(endpoint), listed, where});
}

void PathMux::HandlePrefix(std::string prefix, std::shared_ptr<Endpoint> endpoint, Listed listed,
                           std::source_location where) {
  KEELSON_CHECK(prefix.ends_with('/'));
  Register(prefixes_, std::move(prefix), {std::move(endpoint), listed, where});
}

void PathMux::HandleService(std::string root, std::shared_ptr<Endpoint> endpoint,
                            std::source_location where) {
  KEELSON_CHECK(root.starts_with('/') && !root.ends_with('/'));
  Register(services_, std::move(root), {std::move(endpoint), Listed::kYes, where});
}

void PathMux::Unregister(std::string_view path) {
  std::lock_guard lock(mutex_);
  for (auto* entries : {&services_, &exact_, &prefixes_}) {
    if (auto found = entries->find(path); found != entries->end()) entries->erase(found);
  }
  Publish();
}

void PathMux::SetNotFound(std::shared_ptr<Endpoint> endpoint) {
  std::lock_guard lock(mutex_);
  not_found_ = std::move(endpoint);
  Publish();
}

void PathMux::Publish() {
  auto table = std::make_shared<Table>();
  for (const auto& [root, entry] : services_) {
    table->services.emplace(root, entry.endpoint);
    table->deepest_service = std::max(table->deepest_service, Slashes(root));
  }
  for (const auto& [path, entry] : exact_) table->exact.emplace(path, entry.endpoint);
  for (const auto& [prefix, entry] : prefixes_)
    table->prefixes.emplace_back(prefix, entry.endpoint);
  std::sort(table->prefixes.begin(), table->prefixes.end(), [](const auto& a, const auto& b) {
    return std::tuple(Slashes(a.first), a.first.size(), a.first) >
           std::tuple(Slashes(b.first), b.first.size(), b.first);
  });
  table->not_found = not_found_;
  table_ = std::move(table);
  version_.store(NextVersion(), std::memory_order_release);
}

// Each thread keeps the table it last used; a version check tells when to fetch a newer one.
struct PathMux::Cached {
  uint64_t version = 0;
  std::shared_ptr<const Table> table;
};

std::unordered_map<const PathMux*, PathMux::Cached>& PathMux::ThreadCache() {
  thread_local std::unordered_map<const PathMux*, Cached> cache;
  return cache;
}

PathMux::~PathMux() { ThreadCache().erase(this); }

const PathMux::Table& PathMux::CurrentTable() {
  auto& cached = ThreadCache()[this];
  if (cached.version != version_.load(std::memory_order_acquire)) {
    std::lock_guard lock(mutex_);
    cached.table = table_;
    cached.version = version_.load(std::memory_order_relaxed);
  }
  return *cached.table;
}

std::vector<std::string> PathMux::ListedPaths() const {
  std::vector<std::string> paths;
  std::lock_guard lock(mutex_);
  for (const auto* entries : {&services_, &exact_, &prefixes_}) {
    for (const auto& [path, entry] : *entries) {
      if (entry.listed == Listed::kYes) paths.push_back(path);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Pending PathMux::Serve(RequestContext& context) {
  const auto& endpoint = CurrentTable().Find(context.path);
  auto pending = endpoint->Serve(context);
  if (!pending) return std::nullopt;
  return Holding(endpoint, *std::move(pending));
}

}  // namespace keelson::server
