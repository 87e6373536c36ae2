#include "store/leases.h"

#include <algorithm>

#include "base/limits.h"

namespace fairlead::store {

bool Leases::acquire(const std::string& key, const LeaseRequest& lease, MonotonicTime now) {
  if (leases_.size() >= drop_at_) drop_expired(now);
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
  leases_[key] = {lease.token, now + lease.ttl};
}

void Leases::drop_expired(MonotonicTime now) {
  std::erase_if(leases_, [&](const auto& lease) { return lease.second.expires < now; });
  drop_at_ = std::max(kDropAtLeast, 2 * leases_.size());
}

}  // namespace fairlead::store
