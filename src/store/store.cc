#include "store/store.h"

#include <algorithm>

namespace fairlead::store {

std::string processed_key(const std::string& mark) {
  return "cordum:bus:processed:" + mark;
}

Blob head_of(Blob whole, size_t max) {
  whole.size = whole.bytes.size();
  if (whole.size > max) whole.bytes.resize(max);
  return whole;
}

bool Only::anything() const {
  return states.empty() && tenant.empty() && topic.empty() && team.empty() && worker.empty() &&
         since == WallTime::min();
}

bool Only::takes(job::State state) const {
  return states.empty() || std::ranges::find(states, state) != states.end();
}

bool Only::takes(const job::Record& record) const {
  return takes(record.state) && (tenant.empty() || tenant == record.tenant.str()) &&
         (topic.empty() || topic == record.topic.str()) && (team.empty() || team == record.team) &&
         (worker.empty() || worker == record.assignee.str()) && record.updated_at >= since;
}

std::string job_lease_key(const JobId& job) {
  return "cordum:scheduler:job:" + job.str();
}

std::string_view replica_of_token(std::string_view token) {
  return token.substr(0, token.rfind('.'));
}

}  // namespace fairlead::store
