// What Prometheus sees of a server: names, types, labels.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/server_process.h"

namespace fairlead::app {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

// The metrics of the scheduler that Fairlead stands in for, where it has what they measure, and
// those that it was to have beyond them.
const std::map<std::string, std::string> kAll = {
    {"cordum_scheduler_jobs_received_total", "counter"},
    {"cordum_scheduler_jobs_dispatched_total", "counter"},
    {"cordum_scheduler_jobs_completed_total", "counter"},
    {"cordum_scheduler_safety_denied_total", "counter"},
    {"cordum_scheduler_safety_unavailable_total", "counter"},
    {"cordum_scheduler_dispatch_latency_seconds", "histogram"},
    {"cordum_scheduler_job_lock_wait_seconds", "histogram"},
    {"cordum_scheduler_active_goroutines", "gauge"},
    {"cordum_scheduler_stale_jobs", "gauge"},
    {"cordum_scheduler_orphan_replayed_total", "counter"},
    {"cordum_scheduler_input_fail_open_total", "counter"},
    {"cordum_scheduler_dispatch_rollback_total", "counter"},
    {"cordum_scheduler_dlq_emit_failures_total", "counter"},
    {"cordum_scheduler_job_cancel_failures_total", "counter"},
    {"cordum_scheduler_validation_rejections_total", "counter"},
    {"cordum_scheduler_job_lock_abandoned_total", "counter"},
    {"cordum_scheduler_result_ptr_write_failure_total", "counter"},
    {"cordum_scheduler_dispatch_flush_on_worker_online_total", "counter"},
    {"cordum_scheduler_policy_constraints_serialise_failed_total", "counter"},
    {"cordum_scheduler_worker_heartbeat_age_seconds", "gauge"},
    {"cordum_bus_unmarshal_failure_total", "counter"},
    // Of workers, hints and rollbacks.
    {"cordum_scheduler_stale_worker_retry_total", "counter"},
    {"cordum_scheduler_hint_used_total", "counter"},
    {"cordum_scheduler_hint_rejected_total", "counter"},
    {"cordum_scheduler_dispatch_rollback_failures_total", "counter"},
    {"cordum_scheduler_dispatch_retry_total", "counter"},
    {"cordum_scheduler_heartbeat_lag_seconds", "histogram"},
    // Our own.
    {"cordum_scheduler_resubmit_conflicts_total", "counter"},
    {"cordum_scheduler_idempotency_duplicates_total", "counter"},
    {"cordum_scheduler_results_ignored_total", "counter"},
    {"cordum_scheduler_unknown_job_results_total", "counter"},
    {"cordum_scheduler_transitions_refused_total", "counter"},
    {"cordum_scheduler_heartbeats_refused_total", "counter"},
    {"cordum_scheduler_workers_lost_total", "counter"},
    {"cordum_scheduler_messages_processed_before_total", "counter"},
    {"cordum_scheduler_clock_offset_milliseconds", "gauge"},
    {"cordum_scheduler_jobs", "gauge"},
    {"cordum_scheduler_workers", "gauge"},
};

struct Scrape {
  explicit Scrape(const ServerProcess& server) {
    text = ServerProcess::call_on(server.metrics, "GET", "/metrics");
    std::istringstream lines(text.substr(text.find("\r\n\r\n") + 4));
    for (std::string line; std::getline(lines, line);) take(line);
  }

  void take(const std::string& line) {
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      std::string type;
      words >> current >> type;
      EXPECT_TRUE(types.emplace(current, type).second) << current << " is told twice";
      return;
    }
    const std::string name = line.substr(0, line.find_first_of("{ "));
    const std::string rest = name.starts_with(current) ? name.substr(current.size()) : "?";
    const bool histogram = types[current] == "histogram";
    EXPECT_TRUE(histogram ? rest == "_bucket" || rest == "_sum" || rest == "_count" : rest.empty())
        << line << " stands under " << current;
  }

  bool has(const std::string& line) const { return text.find("\n" + line) != text.npos; }

  std::string text;
  std::string current;
  std::map<std::string, std::string> types;
};

TEST(Metrics, EveryNameAndTypeIsThereAfterTheWalkOfAJob) {
  Folder folder;
  ServerProcess server(folder / "data", {"--instance", "node-7"});
  TestWorker worker(server.workers, "w1");
  const std::string job = server.submit();
  worker.succeed(worker.take());
  ASSERT_EQ(server.await_state(job, "SUCCEEDED"), "SUCCEEDED");
  worker.beat();
  worker.submit("stray", "job.nowhere");
  ASSERT_EQ(server.await_state("stray", "FAILED"), "FAILED");

  Scrape scrape(server);
  EXPECT_EQ(scrape.types, kAll);
  const std::string pod = "{pod=\"node-7\"";
  for (const char* topic : {"job.default", "other"}) {
    EXPECT_TRUE(
        scrape.has("cordum_scheduler_jobs_received_total" + pod + ",topic=\"" + topic + "\"} 1\n"))
        << topic;
  }
  for (const std::string& line : {
           "cordum_scheduler_jobs_dispatched_total" + pod + ",topic=\"job.default\"} 1\n",
           "cordum_scheduler_jobs_completed_total" + pod +
               ",topic=\"job.default\",status=\"JOB_STATUS_SUCCEEDED\"} 1\n",
           "cordum_scheduler_jobs_completed_total" + pod +
               ",topic=\"other\",status=\"JOB_STATUS_FAILED\"} 1\n",
           "cordum_scheduler_dispatch_latency_seconds_count" + pod + ",topic=\"job.default\"} 1\n",
           "cordum_scheduler_dispatch_latency_seconds_bucket" + pod +
               ",topic=\"job.default\",le=\"+Inf\"} 1\n",
           "cordum_scheduler_heartbeat_lag_seconds_count" + pod + "} 1\n",
           "cordum_scheduler_stale_jobs" + pod + ",state=\"RUNNING\"} 0\n",
           "cordum_scheduler_workers" + pod + "} 1\n",
           std::string("cordum_scheduler_worker_heartbeat_age_seconds{worker_id=\"w1\"} "),
           std::string("cordum_scheduler_policy_constraints_serialise_failed_total 0\n"),
       }) {
    EXPECT_TRUE(scrape.has(line)) << line << scrape.text;
  }
  EXPECT_THAT(scrape.text, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(scrape.text, testing::Not(HasSubstr("scheduler_scheduler")));
}

TEST(Metrics, AreServedByAThreadThatTheApiCannotKeepBusy) {
  Folder folder;
  ServerProcess server(folder / "data");
  ASSERT_TRUE(server.ready());
  size_t serving = 0;
  const std::string threads = "/proc/" + std::to_string(server.child().id()) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads)) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    serving += name == "http";
  }
  EXPECT_EQ(serving, 2u) << "one for the API, one for metrics and probes";
  EXPECT_THAT(ServerProcess::call_on(server.metrics, "GET", "/livez"), HasSubstr("200 OK"));
}

TEST(Metrics, TopicsThatStrangersInventAreOneSeries) {
  Folder folder;
  ServerProcess server(folder / "data");
  TestWorker worker(server.workers, "w1");
  for (int i = 0; i < 300; ++i) {
    worker.submit("stray-" + std::to_string(i), "job.stray." + std::to_string(i));
  }
  ASSERT_EQ(server.await_state("stray-299", "FAILED"), "FAILED");
  const std::string job = server.submit();
  worker.succeed(worker.take());
  ASSERT_EQ(server.await_state(job, "SUCCEEDED"), "SUCCEEDED");
  Scrape scrape(server);
  EXPECT_THAT(scrape.text, testing::Not(HasSubstr("job.stray")));
  EXPECT_THAT(scrape.text,
              ContainsRegex("jobs_received_total\\{pod=\"[^\"]*\",topic=\"other\"\\} 300\n"));
  EXPECT_THAT(scrape.text,
              ContainsRegex("jobs_received_total\\{pod=\"[^\"]*\",topic=\"job.default\"\\} 1\n"));
}

}  // namespace
}  // namespace fairlead::app
