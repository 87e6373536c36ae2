// The configuration that is in force for a job, for its worker and for policy to go by (IN-15).
#pragma once

#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "cordum/agent/v1/job.pb.h"
#include "runtime/task.h"

namespace fairlead::scheduler {

// The variable of a request's environment that tells it.
inline constexpr const char* kEffectiveConfigVariable = "CORDUM_EFFECTIVE_CONFIG";

// Whose configuration it is, the widest scope first; what is empty has none of its own.
struct ConfigScope {
  TenantId tenant;
  std::string team;
  std::string workflow;
  std::string step;
};
ConfigScope config_scope_of(const cordum::agent::v1::JobRequest& request);

class EffectiveConfig {
 public:
  virtual ~EffectiveConfig() = default;

  // As a JSON object; empty: nothing is configured.
  virtual Task<Result<std::string>> resolve(ConfigScope scope) = 0;
};

}  // namespace fairlead::scheduler
