#pragma once

// PortAllocator: hands out the ports that services have on every node, each once.
//
// What is taken is one record in the store, a bit per port (upstream's RangeAllocation, in its
// place and form), changed by compare-and-swap: any number of requests and servers may take ports
// at the same time. Any thread.
//
// The first ports of the range are left to those who ask for one by number as long as others are
// free, so that a number picked at random seldom is the one somebody has planned with.

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "kv/store.h"

namespace keelson::kube::service {

struct PortRange {
  int first = 30000;
  int count = 2768;

  // "30000-32767" or "30000+2767". Empty is no range at all.
  static Result<PortRange> Parse(std::string_view text);
  std::string ToString() const;
  bool Contains(int port) const { return port >= first && port < first + count; }
  // How many ports at the beginning are for those who ask by number.
  int reserved() const;
};

class PortAllocator {
 public:
  // Why nothing was taken.
  struct Refusal {
    size_t index = 0;     // which of the wanted ports
    std::string message;  // in upstream's words
    bool exhausted = false;
  };
  using Ports = std::vector<int>;

  // `store` outlives it.
  PortAllocator(kv::Store& store, PortRange range) : store_(store), range_(range) {}

  const PortRange& range() const { return range_; }

  // Takes all of them or none; 0 stands for any. The answer has them in the same order. A dry run
  // takes nothing.
  Task<std::expected<Ports, Refusal>> Take(Ports wanted, bool dry_run);
  // What is not taken, or not of the range, is passed over.
  Task<Result<void>> GiveBack(Ports ports);

 private:
  struct Record;

  Task<Result<Record>> Read();
  Task<Result<bool>> Write(Record& record);

  kv::Store& store_;
  const PortRange range_;
};

}  // namespace keelson::kube::service
