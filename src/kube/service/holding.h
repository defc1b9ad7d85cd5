#pragma once

// Holding: what a write of a service has taken, until it is known what became of it; internal.

#include <utility>
#include <vector>

#include "base/executor.h"
#include "kube/service/service.h"

namespace keelson::kube::service {

class ServiceStrategy::Holding final : public rest::Reservation {
 public:
  Holding(const ServiceStrategy& strategy, bool dry_run) : strategy_(strategy), dry_run_(dry_run) {}
  ~Holding() override {
    if (!committed_) GiveBack(std::move(taken_));
  }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

  void Took(const IpAddress& address) { taken_.addresses.push_back(address); }
  void Took(int port) { taken_.ports.push_back(port); }
  // No longer needed once the write has happened.
  void ReleaseLater(const IpAddress& address) { freed_.addresses.push_back(address); }
  void ReleaseLater(int port) { freed_.ports.push_back(port); }

  void Commit() override {
    committed_ = true;
    GiveBack(std::move(freed_));
  }

 private:
  void GiveBack(Held held) {
    if (dry_run_ || (held.addresses.empty() && held.ports.empty())) return;
    strategy_.background_.Spawn(Executor::Current(), strategy_.GiveBack(std::move(held)));
  }

  const ServiceStrategy& strategy_;
  const bool dry_run_;
  bool committed_ = false;
  Held taken_;
  Held freed_;
};

}  // namespace keelson::kube::service
