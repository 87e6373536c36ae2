#include "gate/topic_gate.h"

#include <algorithm>

#include "job/request.h"

namespace fairlead::gate {

void TopicGate::decide(const Topic& topic, job::Decision decision) {
  decisions_[topic] = std::move(decision);
}

void TopicGate::deny(const Topic& topic, std::string reason) {
  job::Decision decision;
  decision.kind = job::Decision::Kind::kDeny;
  decision.reason = std::move(reason);
  decide(topic, std::move(decision));
}

void TopicGate::constrain(const Topic& topic,
                          const cordum::agent::v1::PolicyConstraints& constraints) {
  job::Decision decision;
  decision.kind = job::Decision::Kind::kAllowWithConstraints;
  decision.constraints = job::serialise(constraints);
  decide(topic, std::move(decision));
}

bool TopicGate::may_throttle() const {
  return std::ranges::any_of(decisions_, [](const auto& decision) {
    return decision.second.kind == job::Decision::Kind::kThrottle;
  });
}

Future<Result<job::Decision>> TopicGate::check(const cordum::agent::v1::JobRequest& request,
                                               const job::Record&) {
  auto found = decisions_.find(Topic(request.topic()));
  if (found != decisions_.end()) return found->second;
  job::Decision allow;
  allow.kind = job::Decision::Kind::kAllow;
  return allow;
}

}  // namespace fairlead::gate
