// The policy of a story: decides by topic, can be out of reach, and can take its time.
#pragma once

#include "gate/topic_gate.h"
#include "runtime/loop.h"

namespace fairlead::behaviour {

class StoryGate final : public gate::Gate {
 public:
  explicit StoryGate(Loop& loop) : loop_(loop) {}

  gate::TopicGate& topics() { return topics_; }
  void set_available(bool available) { available_ = available; }
  // From now on policy is asked over a wire and answers after `delay`.
  void answer_after(Duration delay) { delay_ = delay; }

  Future<Result<job::Decision>> check(const cordum::agent::v1::JobRequest& request,
                                      const job::Record& record) override;
  bool in_process() const override { return delay_ == Duration(0); }

 private:
  Loop& loop_;
  gate::TopicGate topics_;
  bool available_ = true;
  Duration delay_{};
};

}  // namespace fairlead::behaviour
