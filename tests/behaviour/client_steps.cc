#include <fmt/format.h>

#include "job/request.h"
#include "tests/behaviour/step.h"

namespace fairlead::behaviour {

namespace {

Result<void> submit(World& world, const Args& args) {
  cap::JobRequest request;
  request.set_job_id(args.text("job"));
  request.set_topic(args.text("topic"));
  request.set_tenant_id(args.text("tenant"));
  request.set_context_ptr(args.text("context"));
  request.set_priority(static_cast<cap::JobPriority>(args.number("priority")));
  request.set_step_index(static_cast<int32_t>(args.number("step")));
  for (const auto& [name, value] : args.pairs("labels")) (*request.mutable_labels())[name] = value;
  for (const auto& [name, value] : args.pairs("env")) (*request.mutable_env())[name] = value;
  for (const std::string& need : args.list("needs")) request.mutable_meta()->add_requires(need);
  if (args.has("bytes")) {
    (*request.mutable_env())["padding"] =
        std::string(static_cast<size_t>(args.number("bytes")), 'x');
  }
  if (args.has("key")) request.mutable_meta()->set_idempotency_key(args.text("key"));
  if (args.has("deadline")) {
    using std::chrono::milliseconds;
    request.mutable_budget()->set_deadline_ms(
        std::chrono::duration_cast<milliseconds>(args.duration("deadline")).count());
  }
  world.submit(request, args.has("trace") ? args.text("trace") : "trace-" + args.text("job"));
  return {};
}

// Jobs <prefix>1 to <prefix>n. A # in the value of a label stands for the job's number.
Result<void> submit_many(World& world, const Args& args) {
  for (int64_t i = 1; i <= args.number("n"); ++i) {
    std::string number = std::to_string(i);
    cap::JobRequest request;
    request.set_job_id(args.text("prefix") + number);
    request.set_topic(args.text("topic"));
    request.set_tenant_id(args.text("tenant"));
    for (auto [name, value] : args.pairs("labels")) {
      if (size_t at = value.find('#'); at != std::string::npos) value.replace(at, 1, number);
      (*request.mutable_labels())[name] = value;
    }
    world.submit(request, "trace-" + request.job_id());
  }
  return {};
}

Result<void> submit_again(World& world, const Args& args) {
  if (world.submit_again(args.text("job"))) return {};
  return wrong(fmt::format("job {} was never submitted", args.text("job")));
}

Result<void> cancel(World& world, const Args& args) {
  cap::BusPacket packet;
  packet.set_trace_id("cancel-" + args.text("job"));
  packet.set_sender_id("client");
  packet.mutable_job_cancel()->set_job_id(args.text("job"));
  packet.mutable_job_cancel()->set_reason(args.text("reason"));
  world.publish(std::string(bus::kCancelSubject), job::serialise(packet));
  return {};
}

Result<void> publish_garbage(World& world, const Args& args) {
  int64_t count = args.has("n") ? args.number("n") : 1;
  for (; count > 0; --count) world.publish(args.text("subject"), "this is no packet");
  return {};
}

// A packet that lacks its sender.
Result<void> publish_garbage_about(World& world, const Args& args) {
  cap::BusPacket packet;
  packet.set_trace_id("garbage");
  packet.mutable_job_result()->set_job_id(args.text("job"));
  world.publish(args.text("subject"), job::serialise(packet));
  return {};
}

Result<void> advance(World& world, const Args& args) {
  if (args.duration("time") <= Duration(0)) return wrong("time only moves forwards");
  world.advance(args.duration("time"));
  return {};
}

}  // namespace

void add_client_steps(std::vector<Step>& steps) {
  auto add = [&](const char* pattern, Step::Needs needs, auto run) {
    steps.push_back({Pattern(pattern), needs, run});
  };
  using enum Step::Needs;
  add("submit job <job> topic <topic> [tenant <tenant>] [labels <labels:pairs>] "
      "[requires <needs:list>] [deadline <deadline:duration>] [idempotency <key>] [trace <trace>] "
      "[env <env:pairs>] [context <context>] [priority <priority:number>] [step <step:number>] "
      "[bytes <bytes:number>]",
      kScheduler, submit);
  add("submit <n:number> jobs <prefix> topic <topic> [tenant <tenant>] [labels <labels:pairs>]",
      kScheduler, submit_many);
  add("the submit of <job> is delivered again", kScheduler, submit_again);
  add("cancel <job> [reason <reason>]", kScheduler, cancel);
  add("garbage is published on <subject> [<n:number> times]", kScheduler, publish_garbage);
  add("garbage about <job> is published on <subject>", kScheduler, publish_garbage_about);
  add("advance <time:duration>", kStarted, advance);
}

}  // namespace fairlead::behaviour
