#include "worker/worker.h"

#include <algorithm>

#include <fmt/core.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/text.h"

namespace fairlead::worker {

namespace {

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
// After which a worker that was told to end at once ends, whether the server knows or not.
constexpr Duration kLastWords = std::chrono::seconds(2);

// Above limits::kOverloadPercent.
constexpr float kFullPercent = 100;

std::string short_name(cap::JobStatus status) {
  const std::string name = cap::JobStatus_Name(status);
  return name.substr(std::string_view("JOB_STATUS_").size());
}

}  // namespace

Worker::Worker(Plugs plugs, Options options)
    : plugs_(std::move(plugs)),
      options_(std::move(options)),
      client_(plugs_.context, plugs_.random, options_.server, options_.id,
              {[this] { connected(); }, [this](const Error& error) { disconnected(error); },
               [this](const std::string& what) { plugs_.say("the server says " + what); }}),
      payloads_(plugs_.context, options_.payloads),
      payload_watch_(plugs_.context, payloads_, plugs_.say, [this] { send_heartbeat(); }),
      introduction_(plugs_.clock, plugs_.random, client_, options_, plugs_.say),
      outbox_(plugs_.context, plugs_.clock, plugs_.random, client_,
              [this](const std::string&) { look_whether_over(); }),
      late_(plugs_.context),
      beat_(plugs_.context),
      end_(plugs_.context) {
  auto jobs = [this](const ServerSaid& said) { take_job(said); };
  // As a group, so that of two workers of one id each job comes to one.
  job_subscriptions_.push_back(client_.subscribe(jobs_subject(options_.id), options_.id, jobs));
  // Where a scheduler names no worker, one of those that serve the topic gets the job.
  for (const std::string& topic : options_.topics) {
    job_subscriptions_.push_back(client_.subscribe(topic, topic, jobs));
  }
  client_.subscribe(std::string(kCancelSubject), "",
                    [this](const ServerSaid& said) { take_cancel(said); });
}

asio::awaitable<void> Worker::run() {
  asio::co_spawn(plugs_.context, show_up(), asio::detached);
  asio::co_spawn(plugs_.context, keep_beating(), asio::detached);
  while (!over_) {
    end_.expires_after(killed_ ? kLastWords : Duration(std::chrono::hours(24)));
    auto [error] = co_await end_.async_wait(kToken);
    if (!error && killed_) break;
  }
  client_.publish(kGoneSubject, options_.id);
  co_await client_.flush();
  over_ = true;
  beat_.cancel();
  payload_watch_.close();
  client_.close();
}

// Before payloads can be fetched there is nothing to connect for.
asio::awaitable<void> Worker::show_up() {
  co_await payload_watch_.wait_until_usable();
  co_await client_.run();
}

// --- The connection ------------------------------------------------------------------------------

void Worker::connected() {
  told_lost_ = false;
  plugs_.say(fmt::format("connected to {} as {} for pool {}, {} at a time", options_.server.shown(),
                         options_.id, options_.pool, options_.parallel));
  introduction_.connected();
  send_heartbeat();
  outbox_.connected();
}

void Worker::disconnected(const Error& error) {
  if (!std::exchange(told_lost_, true)) plugs_.say(error.message + "; trying again until it works");
}

asio::awaitable<void> Worker::keep_beating() {
  while (!over_) {
    const bool changed = active() != told_active_;
    const Duration pause = changed ? limits::kHeartbeatSoonest : limits::kHeartbeatEvery;
    const Duration passed = plugs_.clock.monotonic() - told_at_;
    beat_.expires_after(std::max(pause - passed, Duration::zero()));
    auto [error] = co_await beat_.async_wait(kToken);
    if (!error) send_heartbeat();
  }
}

void Worker::jobs_changed() {
  if (active() != told_active_) beat_.cancel();
}

void Worker::send_heartbeat() {
  Load load;
  if (options_.cpu_load == Options::CpuLoad::kMachine) {
    load.cpu = load_.cpu();
  } else {
    std::vector<pid_t> running;
    for (const auto& [job, run] : runs_) {
      if (auto process = run->process()) running.push_back(*process);
    }
    load.cpu = load_.cpu_of_jobs(running);
  }
  load.memory = MachineLoad::memory();
  // One that takes no jobs is full, however many of those that it has end.
  if (draining_ || !payload_watch_.usable()) load.cpu = kFullPercent;
  load.active_jobs = active();
  told_active_ = load.active_jobs;
  told_at_ = plugs_.clock.monotonic();
  introduction_.repeat();
  client_.publish(kHeartbeatSubject, heartbeat_packet(options_, load, plugs_.clock.wall()));
}

int Worker::active() const {
  return static_cast<int>(runs_.size() + queue_.size());
}

// --- Jobs ----------------------------------------------------------------------------------------

void Worker::take_job(const ServerSaid& said) {
  auto packet = read_packet(said.payload);
  if (!packet || !packet->has_job_request() || packet->job_request().job_id().empty()) return;
  cap::JobRequest& request = *packet->mutable_job_request();
  const std::string trace = packet->trace_id().empty() ? request.job_id() : packet->trace_id();
  switch (history_.arrives(request)) {
    case RunHistory::Verdict::kIgnore:
      return;
    case RunHistory::Verdict::kReplay:
      outbox_.send(history_.result(request.job_id()), trace);
      return;
    case RunHistory::Verdict::kRun:
      break;
  }
  const auto& topics = options_.topics;
  if (draining_) {
    give_back(request, trace, "worker_stopped", "the worker takes no more jobs");
  } else if (!topics.empty() && std::ranges::find(topics, request.topic()) == topics.end()) {
    give_back(request, trace, "topic_not_served",
              fmt::format("worker {} does not serve {}", options_.id, request.topic()));
  } else if (queue_.size() >= limits::kWorkerQueueMax) {
    give_back(request, trace, "worker_full", "the worker has more jobs than it can hold");
  } else {
    queue_.push_back({std::move(request), trace, plugs_.clock.monotonic()});
    start_queued();
    drop_late();
    jobs_changed();
  }
}

void Worker::drop_late() {
  const MonotonicTime now = plugs_.clock.monotonic();
  std::optional<MonotonicTime> next;
  for (auto waiting = queue_.begin(); waiting != queue_.end();) {
    const std::optional<MonotonicTime> deadline = waiting->deadline();
    if (deadline && *deadline <= now) {
      const JobRun::Arrived late = std::move(*waiting);
      waiting = queue_.erase(waiting);
      finish(result_of(late.request, cap::JOB_STATUS_TIMEOUT, "timeout",
                       "the worker had no room for the job before its deadline"),
             late.trace);
      continue;
    }
    if (deadline && (!next || *deadline < *next)) next = deadline;
    ++waiting;
  }
  late_.cancel();
  if (!next) return;
  late_.expires_after(*next - now);
  late_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    drop_late();
    jobs_changed();
  });
}

void Worker::give_back(const cap::JobRequest& request, const std::string& trace, const char* code,
                       std::string why) {
  finish(result_of(request, cap::JOB_STATUS_FAILED_RETRYABLE, code, std::move(why)), trace);
}

void Worker::start_queued() {
  while (!queue_.empty() && runs_.size() < static_cast<size_t>(options_.parallel)) {
    JobRun::Arrived next = std::move(queue_.front());
    queue_.pop_front();
    const std::string job = next.request.job_id();
    auto tell = [this, job, trace = next.trace](const ProgressLine& progress) {
      client_.publish(kProgressSubject, progress_packet(job, history_.dispatch(job), progress,
                                                        options_.id, trace, plugs_.clock.wall()));
    };
    auto run = std::make_shared<JobRun>(
        JobRun::Plugs{plugs_.context, plugs_.clock, options_, plugs_.program, plugs_.folder,
                      plugs_.watchdog, payloads_, std::move(tell),
                      [this](const Error& error) { payload_watch_.failed(error); }},
        std::move(next));
    runs_[job] = run;
    asio::co_spawn(plugs_.context, run_job(std::move(run)), asio::detached);
  }
}

asio::awaitable<void> Worker::run_job(std::shared_ptr<JobRun> run) {
  const std::string job = run->request().job_id();
  RunOutcome outcome = co_await run->run();
  cap::JobResult result = result_of(run->request(), outcome.status, std::move(outcome.error_code),
                                    std::move(outcome.error_message));
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(outcome.took);
  result.set_execution_ms(took.count());
  const bool wanted = outcome.status == cap::JOB_STATUS_SUCCEEDED || !outcome.output.empty();
  if (wanted && co_await store_output(job, outcome.output)) {
    result.set_result_ptr("redis://res:" + job);
  } else if (wanted) {
    result.set_status(cap::JOB_STATUS_FAILED_RETRYABLE);
    result.set_error_code("result_not_stored");
    result.set_error_message("the payload listener did not take the result");
  }
  runs_.erase(job);
  plugs_.say(fmt::format("job {} {} in {} ms", job, short_name(result.status()), took.count()));
  finish(std::move(result), run->trace());
  start_queued();
  jobs_changed();
}

// Waits for a listener that is not there; false when it refuses, or there is no time to wait.
asio::awaitable<bool> Worker::store_output(const std::string& job, const std::string& output) {
  asio::steady_timer pause_timer(plugs_.context);
  Duration pause = limits::kReconnectFirst;
  for (;;) {
    auto stored = co_await payloads_.set("res:" + job, output, options_.results_kept);
    if (stored) co_return true;
    payload_watch_.failed(stored.error());
    if (stored.error().code != ErrorCode::kUnavailable || killed_) {
      plugs_.say(fmt::format("job {}: {}", job, stored.error().message));
      co_return false;
    }
    pause_timer.expires_after(pause);
    co_await pause_timer.async_wait(kToken);
    pause = std::min(pause * 2, limits::kReconnectMax);
  }
}

cap::JobResult Worker::result_of(const cap::JobRequest& request, cap::JobStatus status,
                                 std::string code, std::string message) const {
  cap::JobResult result;
  result.set_job_id(request.job_id());
  result.set_status(status);
  result.set_worker_id(options_.id);
  result.set_error_code(std::move(code));
  result.set_error_message(std::move(message));
  return result;
}

void Worker::finish(cap::JobResult result, const std::string& trace) {
  outbox_.send(history_.ended(std::move(result)), trace);
}

void Worker::take_cancel(const ServerSaid& said) {
  auto packet = read_packet(said.payload);
  if (!packet || !packet->has_job_cancel()) return;
  const std::string& job = packet->job_cancel().job_id();
  if (auto run = runs_.find(job); run != runs_.end()) {
    run->second->stop(JobRun::Stop::kCancelled);
    return;
  }
  auto queued = std::ranges::find_if(
      queue_, [&](const JobRun::Arrived& waiting) { return waiting.request.job_id() == job; });
  if (queued == queue_.end()) return;
  const JobRun::Arrived dropped = std::move(*queued);
  queue_.erase(queued);
  finish(result_of(dropped.request, cap::JOB_STATUS_CANCELLED, "cancelled",
                   "the job was cancelled before it began"),
         dropped.trace);
  jobs_changed();
}

// --- The end -------------------------------------------------------------------------------------

void Worker::drain() {
  if (std::exchange(draining_, true)) return;
  send_heartbeat();
  for (uint64_t number : job_subscriptions_) client_.unsubscribe(number);
  for (const JobRun::Arrived& waiting : queue_) {
    give_back(waiting.request, waiting.trace, "worker_stopped", "the worker takes no more jobs");
  }
  queue_.clear();
  asio::co_spawn(plugs_.context, tell_of_drain(runs_.size()), asio::detached);
  look_whether_over();
}

// When the server knows that no more jobs are taken.
asio::awaitable<void> Worker::tell_of_drain(size_t running) {
  co_await client_.flush();
  plugs_.say(running == 0
                 ? "ending"
                 : fmt::format("ending when {} running jobs have; again to kill them", running));
}

void Worker::kill() {
  killed_ = true;
  draining_ = true;
  for (const auto& [job, run] : runs_) run->stop(JobRun::Stop::kKilled);
  end_.cancel();
}

void Worker::child_ended() {
  for (const auto& [job, run] : runs_) run->wake();
}

void Worker::look_whether_over() {
  if (!draining_ || active() > 0 || outbox_.size() > 0) return;
  over_ = true;
  end_.cancel();
}

}  // namespace fairlead::worker
