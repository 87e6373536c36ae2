#include "store/leases.h"

#include "base/limits.h"

namespace fairlead::store {

bool Leases::acquire(const std::string& key, const LeaseRequest& lease, MonotonicTime now) {
  drop_expired(now);
  auto held = leases_.find(key);
  if (held != leases_.end() && held->second.token != lease.token && held->second.expires >= now &&
      !dead(held->second.token, now)) {
    return false;
  }
  set(key, lease, now);
  return true;
}

bool Leases::renew(const std::string& key, const LeaseRequest& lease, MonotonicTime now) {
  if (!holds(key, lease.token, now)) return false;
  set(key, lease, now);
  return true;
}

void Leases::release(const std::string& key, std::string_view token) {
  auto held = leases_.find(key);
  if (held == leases_.end() || held->second.token != token) return;
  by_expiry_.erase({held->second.expires, key});
  leases_.erase(held);
}

bool Leases::holds(const std::string& key, std::string_view token, MonotonicTime now) const {
  auto held = leases_.find(key);
  return held != leases_.end() && held->second.token == token && held->second.expires >= now;
}

std::string Leases::holder(const std::string& key) const {
  auto held = leases_.find(key);
  return held == leases_.end() ? std::string() : held->second.token;
}

void Leases::sign_of_life(const std::string& replica, MonotonicTime now) {
  alive_until_[replica] = now + limits::kAliveTtl;
}

bool Leases::dead(std::string_view token, MonotonicTime now) const {
  auto life = alive_until_.find(std::string(replica_of_token(token)));
  return life != alive_until_.end() && life->second < now;
}

void Leases::set(const std::string& key, const LeaseRequest& lease, MonotonicTime now) {
  Lease& held = leases_[key];
  if (!held.token.empty()) by_expiry_.erase({held.expires, key});
  held = {lease.token, now + lease.ttl};
  by_expiry_.emplace(held.expires, key);
}

void Leases::drop_expired(MonotonicTime now) {
  while (!by_expiry_.empty() && by_expiry_.begin()->first < now) {
    leases_.erase(by_expiry_.begin()->second);
    by_expiry_.erase(by_expiry_.begin());
  }
}

}  // namespace fairlead::store
