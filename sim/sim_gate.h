// A policy kernel that answers by topic, at once or over a wire, and sometimes hangs.
#pragma once

#include <memory>

#include "gate/topic_gate.h"
#include "sim/network.h"

namespace fairlead::sim {

class SimGate final : public gate::Gate {
 public:
  SimGate(WorldPlugs& world, gate::TopicGate& policy, std::weak_ptr<Process> process)
      : world_(world), policy_(policy), process_(std::move(process)) {}

  Future<Result<job::Decision>> check(const cordum::agent::v1::JobRequest& request,
                                      const job::Record& record) override;
  bool in_process() const override { return world_.options.gate_in_process; }

 private:
  WorldPlugs& world_;
  gate::TopicGate& policy_;
  std::weak_ptr<Process> process_;
};

}  // namespace fairlead::sim
