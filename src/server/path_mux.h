#pragma once

// Paths to endpoints: the router of one server in the delegation chain.
//
// Looked up on every io thread without locks; changed at any time from any thread (a new aggregated
// API must not need a restart). Order: services, then exact paths, then prefixes, then whoever
// answers what is not found.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/endpoint.h"

namespace keelson::server {

enum class Listed : bool { kNo, kYes };

class PathMux final : public Endpoint {
 public:
  PathMux();
  ~PathMux() override;

  // Exactly this path. Registering a path again replaces it and is logged with both places.
  void Handle(std::string path, std::shared_ptr<Endpoint> endpoint, Listed listed = Listed::kYes,
              std::source_location where = std::source_location::current());
  // Everything below `prefix`, which ends in a slash. The most specific prefix wins.
  void HandlePrefix(std::string prefix, std::shared_ptr<Endpoint> endpoint,
                    Listed listed = Listed::kYes,
                    std::source_location where = std::source_location::current());
  // `root` and everything below it at a slash, the longest root winning; "/apis" only for itself,
  // since groups below it belong to others. Comes before exact paths and prefixes.
  void HandleService(std::string root, std::shared_ptr<Endpoint> endpoint,
                     std::source_location where = std::source_location::current());
  void Unregister(std::string_view path);
  void SetNotFound(std::shared_ptr<Endpoint> endpoint);

  // Sorted.
  std::vector<std::string> ListedPaths() const;

  Pending Serve(RequestContext& context) override;

 private:
  struct Entry {
    std::shared_ptr<Endpoint> endpoint;
    Listed listed = Listed::kNo;
    std::source_location where;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  struct Table;
  struct Cached;

  void Register(Entries& entries, std::string path, Entry entry);
  void Publish();
  const Table& CurrentTable();
  static std::unordered_map<const PathMux*, Cached>& ThreadCache();

  mutable std::mutex mutex_;
  Entries services_;
  Entries exact_;
  Entries prefixes_;
  std::shared_ptr<Endpoint> not_found_;
  std::shared_ptr<const Table> table_;
  std::atomic<uint64_t> version_{0};  // never the same for two tables of the process
};

}  // namespace keelson::server
