#pragma once

// kv::Store on an etcd cluster, version 3.4 or later, by its own v3 API.
//
// What differs from an embedded store: a watch that starts "now" starts after what this process
// has seen so far; a lease may be granted more time than asked for; KnownRevision and
// CompactedRevision are what this process has been told. Keys and values are as any other client
// of the cluster sees them.
//
// A transaction whose answer was lost fails with kUnavailable or kTimeout and may have happened.

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kv/etcd/endpoints.h"
#include "kv/store.h"
#include "net/io_thread.h"

namespace keelson::kv {

using EtcdStoreOptions = etcd::EndpointOptions;

struct EtcdServerInfo {
  std::string url;
  std::string version;
  int64_t database_bytes = 0;
};

class EtcdStore : public Store {
 public:
  // The server talked to now.
  virtual Task<Result<EtcdServerInfo>> Describe(Call call = {}) = 0;
};

// Fails when options do not parse; servers are not waited for: until one answers, calls fail with
// kUnavailable. `pool` and `clock` outlive the store. Close, then destroy, on a thread that is none
// of the pool's.
Result<std::unique_ptr<EtcdStore>> OpenEtcdStore(EtcdStoreOptions options, net::IoPool& pool,
                                                 Clock& clock);

}  // namespace keelson::kv
