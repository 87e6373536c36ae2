#include "scheduler/judge.h"

#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

// Policy over a wire that answers when the test says so.
class HoldingGate final : public gate::Gate {
 public:
  bool in_process() const override { return false; }
  Future<Result<job::Decision>> check(const cap::JobRequest&, const job::Record&) override {
    return held.emplace_back().future();
  }
  void allow(size_t count) {
    job::Decision decision;
    decision.kind = job::Decision::Kind::kAllow;
    auto answered = std::vector(std::make_move_iterator(held.begin()),
                                std::make_move_iterator(held.begin() + count));
    held.erase(held.begin(), held.begin() + static_cast<ptrdiff_t>(count));
    for (auto& answer : answered) answer.complete(Result<job::Decision>(decision));
  }
  std::vector<Completer<Result<job::Decision>>> held;
};

using JudgeTest = ReplicaTest;

TEST_F(JudgeTest, PolicyIsAskedAboutSoManyJobsAtOnceAndTheOthersWaitInTheStore) {
  constexpr size_t kMore = 20;
  HoldingGate gate;
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  for (size_t i = 0; i < limits::kAskPolicyMax + kMore; ++i) submit("j" + std::to_string(i));
  EXPECT_EQ(gate.held.size(), limits::kAskPolicyMax);
  EXPECT_EQ(store_.waiting_in("policy"), kMore);
  loop_.run_for(2s);
  EXPECT_EQ(gate.held.size(), limits::kAskPolicyMax);
  EXPECT_EQ(store_.waiting_in("policy"), kMore);
  EXPECT_EQ(scheduler.metrics().value(Counter::kSafetyUnavailable), 0u);

  gate.allow(1);
  loop_.run_ready();
  EXPECT_EQ(gate.held.size(), limits::kAskPolicyMax) << "the next asks at once";
  for (size_t rounds = 0; !gate.held.empty() && rounds < 2 * limits::kAskPolicyMax; ++rounds) {
    gate.allow(1);
    loop_.run_ready();
    EXPECT_LE(gate.held.size(), limits::kAskPolicyMax);
  }
  EXPECT_EQ(store_.waiting_in("policy"), 0u);
  const std::string last = "j" + std::to_string(limits::kAskPolicyMax + kMore - 1);
  EXPECT_EQ(stored(last)->wait->reason, job::ReasonCode::kNoWorkers) << "it was judged";
  bus_.drop();
}

}  // namespace
}  // namespace fairlead::scheduler
