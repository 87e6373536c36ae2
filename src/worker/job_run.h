// One program, run for one job: its payload is fetched, it is watched until its end, and stopped
// when it must be.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runtime/child_process.h"
#include "runtime/clock.h"
#include "runtime/watchdog.h"
#include "worker/job_folder.h"
#include "worker/options.h"
#include "worker/payload_client.h"
#include "worker/progress_line.h"

namespace fairlead::worker {

struct RunOutcome {
  cap::JobStatus status = cap::JOB_STATUS_FAILED;
  std::string output;
  std::string error_code;
  std::string error_message;
  Duration took{};
};

class JobRun : public std::enable_shared_from_this<JobRun> {
 public:
  enum class Stop { kNo, kCancelled, kDeadline, kOutputTooLarge, kKilled };

  struct Plugs {
    asio::io_context& context;
    Clock& clock;
    const Options& options;
    const std::string& program;
    const std::string& folder;  // in which the run has its own
    const Watchdog& watchdog;
    PayloadClient& payloads;
    std::function<void(const ProgressLine&)> progress;
    // The payload listener cannot be used, and why.
    std::function<void(const Error&)> no_payloads;
  };
  // A job as it came, and when.
  struct Arrived {
    cap::JobRequest request;
    std::string trace;
    MonotonicTime at;

    // None: it may run for ever.
    std::optional<MonotonicTime> deadline() const;
  };

  // What the plugs name must outlive the run.
  JobRun(Plugs plugs, Arrived job);

  const cap::JobRequest& request() const { return job_.request; }
  const std::string& trace() const { return job_.trace; }

  asio::awaitable<RunOutcome> run();

  // SIGTERM, then SIGKILL after the grace; kKilled: SIGKILL now. The first reason counts.
  void stop(Stop why);
  // Some program of ours may have ended.
  void wake() { change_.cancel(); }
  std::optional<pid_t> process() const;

 private:
  // Nothing: the payload is gone.
  asio::awaitable<Result<std::optional<std::string>>> fetch_payload();
  asio::awaitable<void> watch();
  asio::awaitable<void> read_output(asio::posix::stream_descriptor pipe);
  asio::awaitable<void> read_errors(asio::posix::stream_descriptor pipe);
  asio::awaitable<void> read_progress(asio::posix::stream_descriptor pipe);
  template <class Take>
  asio::awaitable<void> read_all(asio::posix::stream_descriptor& pipe, Take take);
  asio::awaitable<void> wait_until(std::optional<MonotonicTime> at);

  JobFolder::Variables variables() const;
  void take_progress(std::string_view line);
  void tell_progress(bool in_any_case);
  void press_to_stop();
  RunOutcome failed(cap::JobStatus status, const char* code, std::string message) const;
  RunOutcome outcome();

  Plugs plugs_;
  Arrived job_;
  JobFolder folder_;
  std::optional<ChildProcess> child_;
  std::optional<ChildEnd> end_;
  asio::steady_timer change_;  // cancelled when there is something to look at

  MonotonicTime began_;
  std::optional<MonotonicTime> deadline_;
  Stop stop_ = Stop::kNo;
  bool told_to_stop_ = false;
  std::optional<MonotonicTime> kill_at_;

  int pipes_open_ = 0;
  bool pipes_left_ = false;  // no more is read from them
  std::string output_;
  std::string error_tail_;
  std::string progress_line_;
  std::optional<ProgressLine> progress_;
  MonotonicTime progress_due_{};
};

}  // namespace fairlead::worker
