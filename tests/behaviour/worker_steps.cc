#include <fmt/format.h>

#include "job/request.h"
#include "tests/behaviour/step.h"

namespace fairlead::behaviour {

namespace {

constexpr std::string_view kReport =
    " [capacity <capacity:number>] [labels <labels:pairs>] [cpu <cpu:decimal>] "
    "[gpu <gpu:decimal>] [active <active:number>]";

void set_report(StoryWorker& worker, const Args& args) {
  cap::Heartbeat& report = worker.report;
  if (args.has("pool")) report.set_pool(args.text("pool"));
  if (args.has("capacity")) {
    report.set_max_parallel_jobs(static_cast<int32_t>(args.number("capacity")));
  }
  if (args.has("cpu")) report.set_cpu_load(static_cast<float>(args.decimal("cpu")));
  if (args.has("gpu")) report.set_gpu_utilization(static_cast<float>(args.decimal("gpu")));
  if (args.has("active")) worker.active_elsewhere = static_cast<int32_t>(args.number("active"));
  if (args.has("labels")) {
    report.clear_labels();
    for (const auto& [name, value] : args.pairs("labels")) (*report.mutable_labels())[name] = value;
  }
}

Result<void> join_pool(World& world, const Args& args) {
  StoryWorker& worker = world.worker(args.text("worker"));
  set_report(worker, args);
  worker.counts_jobs = !args.has("counting no jobs");
  if (auto connected = world.connect(worker); !connected) return connected;
  world.settle();
  return {};
}

using Change = void (*)(World&, StoryWorker&, const Args&);

// A step for a worker that has joined.
std::function<Result<void>(World&, const Args&)> of_known(Change change) {
  return [change](World& world, const Args& args) -> Result<void> {
    StoryWorker* worker = world.find_worker(args.text("worker"));
    if (!worker) return wrong(fmt::format("worker {} has not joined", args.text("worker")));
    change(world, *worker, args);
    world.settle();
    return {};
  };
}

void report(World&, StoryWorker& worker, const Args& args) {
  set_report(worker, args);
  worker.beat();
}

void leave(World&, StoryWorker& worker, const Args&) {
  worker.gone = true;
  worker.disconnect();
}

// Its process ended and a new one begins under the same id.
void restart(World& world, StoryWorker& worker, const Args&) {
  worker.forget_jobs();
  (void)world.connect(worker);
}

Result<void> answer(World& world, const Args& args) {
  cap::JobResult result;
  result.set_job_id(args.text("job"));
  result.set_worker_id(args.text("worker"));
  cap::JobStatus status = cap::JOB_STATUS_UNSPECIFIED;
  if (!cap::JobStatus_Parse("JOB_STATUS_" + args.text("status"), &status)) {
    return wrong(fmt::format("\"{}\" is no status, such as SUCCEEDED or FAILED_RETRYABLE",
                             args.text("status")));
  }
  result.set_status(status);
  result.set_result_ptr(args.text("result"));
  result.set_error_code(args.text("code"));
  result.set_error_message(args.text("message"));
  cap::ErrorCode number = cap::ERROR_CODE_UNSPECIFIED;
  if (args.has("enum") && !cap::ErrorCode_Parse("ERROR_CODE_" + args.text("enum"), &number)) {
    return wrong(fmt::format("\"{}\" is no error code, such as JOB_TIMEOUT", args.text("enum")));
  }
  result.set_error_code_enum(number);

  StoryWorker* worker = world.find_worker(args.text("worker"));
  const StoryWorker::Got* got = worker ? worker->last(args.text("job")) : nullptr;
  if (args.has("epoch")) {
    result.mutable_dispatch()->set_attempt(static_cast<uint64_t>(args.number("epoch")));
  } else if (!args.has("without epoch")) {
    if (!got) {
      return wrong(fmt::format("worker {} never got job {}: say \"epoch N\" or \"without epoch\"",
                               args.text("worker"), args.text("job")));
    }
    *result.mutable_dispatch() = got->request.dispatch();
  }
  if (worker) worker->finished(args.text("job"));
  world.answer(result);
  return {};
}

Result<void> tell_progress(World& world, const Args& args) {
  cap::BusPacket packet;
  packet.set_trace_id("progress-" + args.text("job"));
  packet.set_sender_id(args.text("worker"));
  cap::JobProgress* progress = packet.mutable_job_progress();
  progress->set_job_id(args.text("job"));
  progress->set_percent(static_cast<int32_t>(args.number("percent")));
  if (args.has("epoch")) {
    progress->mutable_dispatch()->set_attempt(static_cast<uint64_t>(args.number("epoch")));
  }
  world.publish(std::string(bus::kProgressSubject), job::serialise(packet));
  return {};
}

Result<void> answer_again(World& world, const Args& args) {
  if (world.answer_again(args.text("job"))) return {};
  return wrong(fmt::format("nobody has answered job {}", args.text("job")));
}

}  // namespace

void add_worker_steps(std::vector<Step>& steps) {
  auto add = [&](std::string pattern, Step::Needs needs, auto run) {
    steps.push_back({Pattern(std::move(pattern)), needs, run});
  };
  using enum Step::Needs;
  add(fmt::format("worker <worker> joins pool <pool>{} [counting no jobs]", kReport), kScheduler,
      join_pool);
  add(fmt::format("worker <worker> reports{} [pool <pool>]", kReport), kScheduler,
      of_known(report));
  add("worker <worker> goes silent", kStarted,
      of_known([](World&, StoryWorker& worker, const Args&) { worker.go_silent(); }));
  add("worker <worker> speaks again", kStarted,
      of_known([](World&, StoryWorker& worker, const Args&) { worker.speak_again(); }));
  add("worker <worker> leaves", kStarted, of_known(leave));
  add("worker <worker> restarts", kScheduler, of_known(restart));
  add("worker <worker> answers <job> <status> [result <result>] [code <code>] "
      "[enum <enum>] [message <message>] [epoch <epoch:number>] [without epoch]",
      kScheduler, answer);
  add("worker <worker> tells that <job> is at <percent:number> percent [epoch <epoch:number>]",
      kScheduler, tell_progress);
  add("the answer to <job> is delivered again", kScheduler, answer_again);
}

}  // namespace fairlead::behaviour
