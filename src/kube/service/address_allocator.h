#pragma once

// AddressAllocator: hands out the cluster addresses of services, each once.
//
// An address is taken by creating the IPAddress object that bears its name, which only one can, and
// given back by deleting it: nothing is kept in memory, and any number of requests and servers may
// take addresses at the same time. The ranges are those of the ServiceCIDR objects; the ones that
// the server was started with are looked at first. Any thread, once connected.
//
// The first addresses of a range are left to those who ask for one by number as long as others are
// free.

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ip_address.h"
#include "base/status.h"
#include "base/task.h"
#include "rest/resource.h"

namespace keelson::kube::service {

// A range without its first address, and in IPv4 without its last.
class AddressRange {
 public:
  explicit AddressRange(const IpPrefix& prefix);

  const IpPrefix& prefix() const { return prefix_; }
  IpAddress first() const { return first_; }
  uint64_t count() const { return count_; }
  // How many addresses at the beginning are for those who ask by number.
  uint64_t reserved() const;
  // Whether it may be handed out: in the prefix, and not one of those left out.
  bool Usable(const IpAddress& address) const {
    return prefix_.Contains(address) && address >= first_ && address <= last_;
  }

 private:
  IpPrefix prefix_;
  IpAddress first_;
  IpAddress last_;
  uint64_t count_ = 0;
};

class AddressAllocator {
 public:
  struct Owner {
    std::string ns;
    std::string name;
  };
  // Why nothing was taken, in upstream's words.
  struct Refusal {
    std::string message;
    bool exhausted = false;
  };

  // The ranges the server was started with: one, or one of each family.
  explicit AddressAllocator(std::vector<IpPrefix> ranges) : ranges_(std::move(ranges)) {}
  // The resources that addresses and ranges are kept in. Once, before the first call.
  void Connect(rest::ResourceSpec addresses, rest::ResourceSpec ranges);

  bool Has(IpAddress::Family family) const;
  IpAddress::Family default_family() const { return ranges_.front().address.family(); }
  size_t families() const { return ranges_.size(); }

  Task<std::expected<void, Refusal>> Take(IpAddress address, Owner owner, bool dry_run);
  Task<std::expected<IpAddress, Refusal>> TakeAny(IpAddress::Family family, Owner owner,
                                                  bool dry_run);
  // An address that is not taken is passed over.
  Task<void> GiveBack(IpAddress address);

 private:
  // All ranges, those of the server first.
  Task<std::vector<AddressRange>> Ranges();
  // Nothing when it is taken already.
  Task<ApiResult<bool>> Create(IpAddress address, Owner owner);
  Task<std::expected<std::optional<IpAddress>, Refusal>> TakeFrom(AddressRange range,
                                                                  uint64_t begin, uint64_t count,
                                                                  Owner owner);

  const std::vector<IpPrefix> ranges_;
  std::optional<rest::ResourceSpec> addresses_;
  std::optional<rest::ResourceSpec> range_objects_;
};

// "IPv4" or "IPv6".
std::string_view FamilyName(IpAddress::Family family);

}  // namespace keelson::kube::service
