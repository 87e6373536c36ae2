// The worker: takes jobs, runs a program for each, sends what became of them.
//
//   handed to us ──► RunHistory ──► queue ──► JobRun ──► payload stored ──► ResultOutbox ──► server
//                        │ seen before                                          ▲
//                        └──────────────── the result it had ───────────────────┘
//
// It shows itself only when the payload listener can be used, and calls itself full while it takes
// no jobs. One thread, that of the context.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runtime/clock.h"
#include "runtime/random.h"
#include "worker/introduction.h"
#include "worker/job_run.h"
#include "worker/machine_load.h"
#include "worker/nats_client.h"
#include "worker/packets.h"
#include "worker/payload_watch.h"
#include "worker/result_outbox.h"
#include "worker/run_history.h"

namespace fairlead::worker {

class Worker {
 public:
  using Say = std::function<void(const std::string&)>;  // a line for people

  struct Plugs {
    asio::io_context& context;
    Clock& clock;
    Random& random;
    const std::string& program;  // the path of the command
    const std::string& folder;   // for the files of jobs
    const Watchdog& watchdog;
    Say say;
  };

  // What the plugs name must outlive the worker.
  Worker(Plugs plugs, Options options);

  // Until it is drained or killed.
  asio::awaitable<void> run();

  // Takes no more jobs; run() ends when those in hand have ended and the server has their results.
  void drain();
  // Ends what runs; run() ends when the server knows, or soon.
  void kill();
  // Some program of ours may have ended.
  void child_ended();

 private:
  asio::awaitable<void> show_up();
  void connected();
  void disconnected(const Error& error);
  void take_job(const ServerSaid& said);
  void take_cancel(const ServerSaid& said);
  void give_back(const cap::JobRequest& request, const std::string& trace, const char* code,
                 std::string why);
  void start_queued();
  asio::awaitable<void> run_job(std::shared_ptr<JobRun> run);
  // What still waits here when its time is over ends without having begun.
  void drop_late();
  asio::awaitable<bool> store_output(const std::string& job, const std::string& output);
  cap::JobResult result_of(const cap::JobRequest& request, cap::JobStatus status, std::string code,
                           std::string message) const;
  void finish(cap::JobResult result, const std::string& trace);
  asio::awaitable<void> keep_beating();
  // The number of jobs changed: it is told soon.
  void jobs_changed();
  asio::awaitable<void> tell_of_drain(size_t running);
  void send_heartbeat();
  void look_whether_over();
  // Jobs that run or wait here. What has ended is the server's, though it may not know yet.
  int active() const;

  const Plugs plugs_;
  const Options options_;
  NatsClient client_;
  PayloadClient payloads_;
  PayloadWatch payload_watch_;
  Introduction introduction_;
  ResultOutbox outbox_;
  RunHistory history_{limits::kRunsRememberedMax};
  MachineLoad load_;
  std::vector<uint64_t> job_subscriptions_;
  std::deque<JobRun::Arrived> queue_;
  std::map<std::string, std::shared_ptr<JobRun>> runs_;  // by job
  bool draining_ = false;
  bool killed_ = false;
  bool over_ = false;
  bool told_lost_ = false;
  int told_active_ = 0;
  MonotonicTime told_at_{};
  asio::steady_timer late_;  // for the first deadline in the queue
  asio::steady_timer beat_;
  asio::steady_timer end_;
};

}  // namespace fairlead::worker
