#include "scheduler/effective_config.h"

#include "job/request.h"

namespace fairlead::scheduler {

ConfigScope config_scope_of(const cordum::agent::v1::JobRequest& request) {
  auto from_env = [&](const char* name) {
    auto found = request.env().find(name);
    return found == request.env().end() ? std::string() : found->second;
  };
  return {job::tenant_of(request), from_env("team_id"), request.workflow_id(), from_env("step_id")};
}

}  // namespace fairlead::scheduler
