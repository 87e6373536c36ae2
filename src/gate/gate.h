// The policy gate: asked before every dispatch whether a job may run, and under which constraints.
#pragma once

#include "cordum/agent/v1/job.pb.h"
#include "cordum/agent/v1/safety.pb.h"
#include "job/record.h"
#include "runtime/future.h"

namespace fairlead::gate {

class Gate {
 public:
  virtual ~Gate() = default;

  // Never fails: what cannot be asked is Decision::Kind::kUnavailable. `request` is the job as the
  // worker would get it, before constraints.
  virtual Future<Result<job::Decision>> check(const cordum::agent::v1::JobRequest& request,
                                              const job::Record& record) = 0;

  // Whether check() answers at once, without leaving the process. Then admission, judgement and
  // dispatch can share one commit.
  virtual bool in_process() const = 0;
  // Of the circuit in front of a policy service: "closed" or "open"; "none" where there is none.
  virtual const char* circuit() const { return "none"; }
  // Of one in process: whether some job would be told to come later.
  virtual bool may_throttle() const { return false; }
};

}  // namespace fairlead::gate
