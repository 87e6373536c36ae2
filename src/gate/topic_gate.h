// A gate in process that decides by topic alone; what it has no word about is allowed.
#pragma once

#include <map>
#include <string>

#include "gate/gate.h"

namespace fairlead::gate {

class TopicGate final : public Gate {
 public:
  // Replaces what was said of the topic before.
  void decide(const Topic& topic, job::Decision decision);
  void deny(const Topic& topic, std::string reason);
  void constrain(const Topic& topic, const cordum::agent::v1::PolicyConstraints& constraints);

  Future<Result<job::Decision>> check(const cordum::agent::v1::JobRequest& request,
                                      const job::Record& record) override;
  bool in_process() const override { return true; }
  bool may_throttle() const override;

 private:
  std::map<Topic, job::Decision> decisions_;
};

}  // namespace fairlead::gate
