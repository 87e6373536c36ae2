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

std::string short_name(cap::JobStatus status) {
  const std::string name = cap::JobStatus_Name(status);
  return name.substr(std::string_view("JOB_STATUS_").size());
}

}  // namespace

Worker::Worker(asio::io_context& context, Clock& clock, Random& random, Options options,
               std::string program, Say say)
    : context_(context),
      clock_(clock),
      options_(std::move(options)),
      program_(std::move(program)),
      say_(std::move(say)),
      client_(context, random, options_.server, options_.id,
              {[this] { connected(); }, [this](const Error& error) { disconnected(error); }}),
      payloads_(context, options_.payloads),
      outbox_(context, clock, random, client_, [this](const std::string&) { look_whether_over(); }),
      beat_(context),
      end_(context) {
  auto jobs = [this](const ServerSaid& said) { take_job(said); };
  job_subscriptions_.push_back(client_.subscribe(jobs_subject(options_.id), "", jobs));
  // Where a scheduler names no worker, one of those that serve the topic gets the job.
  for (const std::string& topic : options_.topics) {
    job_subscriptions_.push_back(client_.subscribe(topic, topic, jobs));
  }
  client_.subscribe(std::string(kCancelSubject), "",
                    [this](const ServerSaid& said) { take_cancel(said); });
}

asio::awaitable<void> Worker::run() {
  asio::co_spawn(context_, client_.run(), asio::detached);
  asio::co_spawn(context_, beat(), asio::detached);
  while (!over_) {
    end_.expires_after(killed_ ? kLastWords : Duration(std::chrono::hours(24)));
    auto [error] = co_await end_.async_wait(kToken);
    if (!error && killed_) break;
  }
  co_await client_.flush();
  over_ = true;
  beat_.cancel();
  client_.close();
}

// --- The connection ------------------------------------------------------------------------------

void Worker::connected() {
  told_lost_ = false;
  say_(fmt::format("connected to {} as {} for pool {}, {} at a time", options_.server.shown(),
                   options_.id, options_.pool, options_.parallel));
  client_.publish(kHandshakeSubject, handshake_packet(options_, clock_.wall()));
  send_heartbeat();
  outbox_.connected();
}

void Worker::disconnected(const Error& error) {
  if (!std::exchange(told_lost_, true)) say_(error.message + "; trying again until it works");
}

asio::awaitable<void> Worker::beat() {
  while (!over_) {
    beat_.expires_after(limits::kHeartbeatEvery);
    auto [error] = co_await beat_.async_wait(kToken);
    if (!error) send_heartbeat();
  }
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
  // One that takes no more is full.
  load.active_jobs = draining_ ? std::max(active(), options_.parallel) : active();
  client_.publish(kHeartbeatSubject, heartbeat_packet(options_, load, clock_.wall()));
}

int Worker::active() const {
  return static_cast<int>(runs_.size() + queue_.size() + outbox_.size());
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
    queue_.push_back({std::move(request), trace});
    start_queued();
  }
}

void Worker::give_back(const cap::JobRequest& request, const std::string& trace, const char* code,
                       std::string why) {
  finish(result_of(request, cap::JOB_STATUS_FAILED_RETRYABLE, code, std::move(why)), trace);
}

void Worker::start_queued() {
  while (!queue_.empty() && runs_.size() < static_cast<size_t>(options_.parallel)) {
    Queued next = std::move(queue_.front());
    queue_.pop_front();
    const std::string job = next.request.job_id();
    auto tell = [this, job, trace = next.trace](const ProgressLine& progress) {
      client_.publish(kProgressSubject, progress_packet(job, history_.dispatch(job), progress,
                                                        options_.id, trace, clock_.wall()));
    };
    auto run = std::make_shared<JobRun>(
        JobRun::Plugs{context_, clock_, options_, program_, payloads_, std::move(tell)},
        std::move(next.request), std::move(next.trace));
    runs_[job] = run;
    asio::co_spawn(context_, run_job(std::move(run)), asio::detached);
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
  say_(fmt::format("job {} {} in {} ms", job, short_name(result.status()), took.count()));
  finish(std::move(result), run->trace());
  start_queued();
}

// Waits for a listener that is not there; false when it refuses, or there is no time to wait.
asio::awaitable<bool> Worker::store_output(const std::string& job, const std::string& output) {
  asio::steady_timer pause_timer(context_);
  Duration pause = limits::kReconnectFirst;
  for (;;) {
    auto stored = co_await payloads_.set("res:" + job, output, limits::kEndedJobTtl);
    if (stored) co_return true;
    if (stored.error().code != ErrorCode::kUnavailable || killed_) {
      say_(fmt::format("job {}: {}", job, stored.error().message));
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
      queue_, [&](const Queued& waiting) { return waiting.request.job_id() == job; });
  if (queued == queue_.end()) return;
  const Queued dropped = std::move(*queued);
  queue_.erase(queued);
  finish(result_of(dropped.request, cap::JOB_STATUS_CANCELLED, "cancelled",
                   "the job was cancelled before it began"),
         dropped.trace);
}

// --- The end -------------------------------------------------------------------------------------

void Worker::drain() {
  if (std::exchange(draining_, true)) return;
  send_heartbeat();
  for (uint64_t number : job_subscriptions_) client_.unsubscribe(number);
  for (const Queued& waiting : queue_) {
    give_back(waiting.request, waiting.trace, "worker_stopped", "the worker takes no more jobs");
  }
  queue_.clear();
  asio::co_spawn(context_, tell_of_drain(runs_.size()), asio::detached);
  look_whether_over();
}

// When the server knows that no more jobs are taken.
asio::awaitable<void> Worker::tell_of_drain(size_t running) {
  co_await client_.flush();
  say_(running == 0 ? "ending"
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
  if (!draining_ || active() > 0) return;
  over_ = true;
  end_.cancel();
}

}  // namespace fairlead::worker
