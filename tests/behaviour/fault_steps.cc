#include "tests/behaviour/step.h"

namespace fairlead::behaviour {

namespace {

using Run = std::function<Result<void>(World&, const Args&)>;

size_t count_of(const Args& args) {
  return args.has("n") ? static_cast<size_t>(args.number("n")) : 1;
}

Run strike_bus(StoryBus::Fault fault, StoryBus::Of of = StoryBus::Of::kDispatch) {
  return [fault, of](World& world, const Args& args) {
    world.bus.order(fault, of, count_of(args));
    return Result<void>{};
  };
}

Run strike_writes(StoryStore::Fault fault) {
  return [fault](World& world, const Args& args) {
    std::optional<job::State> state;
    if (args.has("state")) state = args.state("state");
    world.store.order(fault, state, count_of(args));
    return Result<void>{};
  };
}

Result<void> fail_reads(World& world, const Args& args) {
  world.store.fail_reads(count_of(args));
  return {};
}

Result<void> let_go(World& world, const Args&) {
  if (!world.bus.let_go()) return wrong("the bus holds no dispatch");
  world.settle();
  return {};
}

Run set_clock(int direction) {
  return [direction](World& world, const Args& args) {
    world.clock.set(args.duration("time") * direction);
    return Result<void>{};
  };
}

Result<void> crash(World& world, const Args&) {
  world.crash();
  return {};
}

Result<void> restart(World& world, const Args&) {
  if (world.up()) world.crash();
  return world.start();
}

}  // namespace

void add_fault_steps(std::vector<Step>& steps) {
  auto add = [&](const char* pattern, Step::Needs needs, Run run) {
    steps.push_back({Pattern(pattern), needs, std::move(run)});
  };
  using enum Step::Needs;
  using Bus = StoryBus::Fault;
  using Write = StoryStore::Fault;
  constexpr auto kDeadLetter = StoryBus::Of::kDeadLetter;

  add("the bus refuses the next dispatch", kStarted, strike_bus(Bus::kRefuse));
  add("the bus refuses the next <n:number> dispatches", kStarted, strike_bus(Bus::kRefuse));
  add("the bus refuses the next dead letter", kStarted, strike_bus(Bus::kRefuse, kDeadLetter));
  add("the bus refuses the next <n:number> dead letters", kStarted,
      strike_bus(Bus::kRefuse, kDeadLetter));
  add("the bus refuses the next cancel", kStarted, strike_bus(Bus::kRefuse, StoryBus::Of::kCancel));
  add("the bus finds the next dispatch too large", kStarted, strike_bus(Bus::kTooLarge));
  add("the bus loses the next dispatch", kStarted, strike_bus(Bus::kLose));
  add("the bus loses the answer of the next dispatch", kStarted, strike_bus(Bus::kLoseAnswer));
  add("the bus holds the next dispatch", kStarted, strike_bus(Bus::kHold));
  add("the bus lets the held dispatch go", kScheduler, let_go);

  add("the store fails the next write [of <state:state>]", kStarted, strike_writes(Write::kFail));
  add("the store fails the next <n:number> writes [of <state:state>]", kStarted,
      strike_writes(Write::kFail));
  add("the store loses the answer of the next write [of <state:state>]", kStarted,
      strike_writes(Write::kLoseAnswer));
  add("somebody else writes the record before the next write of <state:state>", kStarted,
      strike_writes(Write::kOvertake));
  add("the store fails the next read", kStarted, fail_reads);
  add("the store fails the next <n:number> reads", kStarted, fail_reads);

  add("the clock is set forward by <time:duration>", kStarted, set_clock(1));
  add("the clock is set back by <time:duration>", kStarted, set_clock(-1));
  add("the scheduler crashes", kScheduler, crash);
  add("the scheduler crashes before the next dispatch", kScheduler, strike_bus(Bus::kCrashBefore));
  add("the scheduler crashes after the next dispatch", kScheduler, strike_bus(Bus::kCrashAfter));
  add("the scheduler crashes before the next dead letter", kScheduler,
      strike_bus(Bus::kCrashBefore, kDeadLetter));
  add("the scheduler restarts", kStarted, restart);
}

}  // namespace fairlead::behaviour
