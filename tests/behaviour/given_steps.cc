#include <fmt/format.h>

#include "cordum/agent/v1/safety.pb.h"
#include "tests/behaviour/step.h"

namespace fairlead::behaviour {

namespace {

Result<void> map_topic(World& world, const Args& args) {
  world.map_topic(args.text("topic"), args.list("pools"));
  return world.up() ? world.reload_pools() : Result<void>{};
}

Result<void> describe_pool(World& world, const Args& args) {
  world.describe_pool(args.text("pool"), args.list("capabilities"), args.text("status"));
  return world.up() ? world.reload_pools() : Result<void>{};
}

Result<void> set_timeouts(World& world, const Args& args) {
  if (world.ever_started()) return wrong("timeouts must be given before anything happens");
  scheduler::Timeouts& timeouts =
      args.has("topic")
          ? world.settings.topic_timeouts.try_emplace(Topic(args.text("topic"))).first->second
          : world.settings.timeouts;
  if (args.has("dispatch")) timeouts.dispatch = args.duration("dispatch");
  if (args.has("running")) timeouts.running = args.duration("running");
  return {};
}

Result<void> set_stale_picks(World& world, const Args& args) {
  if (world.ever_started()) return wrong("stale picks must be given before anything happens");
  world.settings.stale_picks_max = static_cast<int>(args.number("n"));
  return {};
}

Result<void> fail_open(World& world, const Args&) {
  if (world.ever_started()) return wrong("the fail mode must be given before anything happens");
  world.settings.safety_fail_open = true;
  return {};
}

Result<void> answer_after(World& world, const Args& args) {
  world.gate.answer_after(args.duration("delay"));
  return {};
}

Result<void> limit(World& world, const Args& args) {
  cap::PolicyConstraints constraints;
  cap::BudgetConstraints* budgets = constraints.mutable_budgets();
  budgets->set_max_retries(static_cast<int32_t>(args.number("retries")));
  budgets->set_max_concurrent_jobs(static_cast<int32_t>(args.number("jobs")));
  using std::chrono::milliseconds;
  budgets->set_max_runtime_ms(
      std::chrono::duration_cast<milliseconds>(args.duration("runtime")).count());
  world.gate.topics().constrain(Topic(args.text("topic")), constraints);
  return {};
}

std::function<Result<void>(World&, const Args&)> decide(job::Decision::Kind kind) {
  return [kind](World& world, const Args& args) {
    job::Decision decision;
    decision.kind = kind;
    decision.reason = args.text("reason");
    world.gate.topics().decide(Topic(args.text("topic")), std::move(decision));
    return Result<void>{};
  };
}

std::function<Result<void>(World&, const Args&)> set_available(bool available) {
  return [available](World& world, const Args&) {
    world.gate.set_available(available);
    return Result<void>{};
  };
}

}  // namespace

void add_given_steps(std::vector<Step>& steps) {
  using Kind = job::Decision::Kind;
  auto add = [&](const char* pattern, auto run) {
    steps.push_back({Pattern(pattern), Step::Needs::kNothing, run});
  };
  add("given topic <topic> -> pool <pools:list>", map_topic);
  add("given pool <pool> [requires <capabilities:list>] [status <status>]", describe_pool);
  add("given timeouts [dispatch <dispatch:duration>] [running <running:duration>] "
      "[of topic <topic>]",
      set_timeouts);
  add("given <n:number> stale picks", set_stale_picks);
  add("given policy fails open", fail_open);
  add("given policy answers after <delay:duration>", answer_after);

  add("policy allows topic <topic>", decide(Kind::kAllow));
  add("policy denies topic <topic> <reason>", decide(Kind::kDeny));
  add("policy throttles topic <topic> [because <reason>]", decide(Kind::kThrottle));
  add("policy wants approval for topic <topic>", decide(Kind::kRequireApproval));
  add("policy says something unknown about topic <topic>", decide(Kind::kUnknown));
  add("policy limits topic <topic> [max_retries <retries:number>] "
      "[max_concurrent_jobs <jobs:number>] [max_runtime <runtime:duration>]",
      limit);
  add("policy cannot be asked about topic <topic> [because <reason>]", decide(Kind::kUnavailable));
  add("policy is unavailable", set_available(false));
  add("policy is available", set_available(true));
}

}  // namespace fairlead::behaviour
