#include "storage/lease_pool.h"

#include <algorithm>

namespace keelson::storage {

Task<Result<kv::LeaseId>> LeasePool::Lease(std::chrono::seconds ttl) {
  const auto reuse = std::min(kMaxReuse, ttl * kReusePercent / 100);
  const TimePoint now = clock_->Now();
  {
    std::lock_guard lock(mutex_);
    bool lives_long_enough = now + ttl < expires_;
    bool not_much_longer = now + ttl + reuse > expires_;
    if (lease_ != 0 && lives_long_enough && not_much_longer && ++objects_ <= kMaxObjects) {
      co_return lease_;
    }
  }
  CO_TRY(auto granted, co_await store_->GrantLease(ttl + reuse));
  std::lock_guard lock(mutex_);
  lease_ = granted.id;
  expires_ = now + ttl + reuse;
  objects_ = 1;
  co_return lease_;
}

}  // namespace keelson::storage
