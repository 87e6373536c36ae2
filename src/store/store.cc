#include "store/store.h"

namespace fairlead::store {

std::string job_lease_key(const JobId& job) {
  return "cordum:scheduler:job:" + job.str();
}

std::string_view replica_of_token(std::string_view token) {
  return token.substr(0, token.rfind('.'));
}

}  // namespace fairlead::store
