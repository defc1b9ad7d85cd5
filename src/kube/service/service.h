#pragma once

// Service: a name and an address for a set of pods.
//
// What makes it special is that it takes things from outside: cluster addresses and ports on the
// nodes. They are taken before the object is stored, given back when the write is refused, and
// given back when the service is deleted or no longer needs them. Clients may leave out what the
// server once chose for them; it stays as it was.

#include <string>
#include <vector>

#include "base/gate.h"
#include "kube/service/address_allocator.h"
#include "kube/service/port_allocator.h"
#include "rest/strategy.h"

namespace keelson::kube::service {

class ServiceStrategy final : public rest::Strategy {
 public:
  ServiceStrategy(AddressAllocator& addresses, PortAllocator& ports)
      : addresses_(addresses), ports_(ports) {}
  // Waits for what is still being given back.
  ~ServiceStrategy() override;

  // A service's Endpoints go with it. Once, before the first write.
  void Connect(storage::ObjectStore& endpoints) { endpoints_ = &endpoints; }

  names::NameCheck name_check() const override { return names::NameIsDnsLabel; }
  bool AllowsCreateOnUpdate() const override { return true; }

  bool Reserves() const override { return true; }
  Task<ApiResult<rest::ReservationPtr>> Reserve(const rest::WriteScope& scope, value::Ref object,
                                                const value::Value* old) const override;
  void PrepareForUpdate(const rest::WriteScope& scope, value::Ref object,
                        const value::Value& old) const override;
  void Validate(const rest::WriteScope& scope, const value::Value& object,
                schema::FieldErrors& errors) const override;
  void ValidateUpdate(const rest::WriteScope& scope, const value::Value& object,
                      const value::Value& old, schema::FieldErrors& errors) const override;
  std::vector<std::string> Warnings(const rest::WriteScope& scope, const value::Value& object,
                                    const value::Value* old) const override;
  Task<void> AfterDelete(const value::Value& object) const override;

 private:
  class Holding;
  struct Held {
    std::vector<IpAddress> addresses;
    std::vector<int> ports;
  };
  // The service that takes them.
  struct Target {
    AddressAllocator::Owner owner;
    bool dry_run = false;
  };

  Task<ApiResult<void>> ReserveAddresses(const Target& target, value::Ref spec,
                                         const value::Value* old, Holding& holding) const;
  Task<ApiResult<void>> ReservePorts(const Target& target, value::Ref spec, const value::Value* old,
                                     Holding& holding) const;

  Task<void> GiveBack(Held held) const;

  AddressAllocator& addresses_;
  PortAllocator& ports_;
  storage::ObjectStore* endpoints_ = nullptr;
  mutable Gate background_;
};

}  // namespace keelson::kube::service
