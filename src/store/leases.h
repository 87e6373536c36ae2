// The leases of an embedded store: in memory, so they end with the process.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time.h"
#include "store/store.h"

namespace fairlead::store {

class Leases {
 public:
  // True when the token holds the lease now: newly, or still. A lease is free when it has expired
  // or its holder's replica shows no sign of life although it once did.
  bool acquire(const std::string& key, const LeaseRequest& lease, MonotonicTime now);
  bool renew(const std::string& key, const LeaseRequest& lease, MonotonicTime now);
  void release(const std::string& key, std::string_view token);
  bool holds(const std::string& key, std::string_view token, MonotonicTime now) const;

  // The token that has the lease, expired or not; "" when there is none.
  std::string holder(const std::string& key) const;

  void sign_of_life(const std::string& replica, MonotonicTime now);

  size_t size() const { return leases_.size(); }

 private:
  struct Lease {
    std::string token;
    MonotonicTime expires;
  };

  bool dead(std::string_view token, MonotonicTime now) const;
  void set(const std::string& key, const LeaseRequest& lease, MonotonicTime now);
  void drop_expired(MonotonicTime now);

  std::unordered_map<std::string, Lease> leases_;
  // Expired ones are looked for when there are twice as many leases as were left the last time.
  size_t drop_at_ = kDropAtLeast;
  static constexpr size_t kDropAtLeast = 1024;
  std::unordered_map<std::string, MonotonicTime> alive_until_;
};

}  // namespace fairlead::store
