#include "scheduler/heartbeats.h"

#include <algorithm>
#include <map>

#include "scheduler/packets.h"

namespace fairlead::scheduler {

Task<bus::Verdict> Heartbeats::handle(bus::Delivery delivery) {
  Result<Packet> packet = read_packet(delivery.payload);
  if (!packet || !(*packet)->has_heartbeat()) {
    replica_.metrics.add(Counter::kUnmarshalFailures, delivery.subject, "invalid");
    co_return bus::Verdict::ack();
  }
  routing::WorkerReport report = report_of((*packet)->heartbeat());
  routing::Heard heard = replica_.registry.heartbeat(report, replica_.clock.monotonic());
  if (heard.effect == routing::HeartbeatEffect::kRefused) {
    replica_.metrics.add(Counter::kHeartbeatsRefused);
    replica_.log.warning("heartbeat refused",
                         {{"worker_id", report.id.str()}, {"error", heard.problem}});
    co_return bus::Verdict::ack();
  }
  sweep_.heard(report.id);
  const routing::WorkerView* view = replica_.registry.find(report.id);
  replica_.ghosts.erase(report.id);
  if (view && view->ghosts > 0) co_await confirm_held(report.id);
  if (heard.effect == routing::HeartbeatEffect::kOpened) co_await dispatch_.offer(report.id);
  co_return bus::Verdict::ack();
}

Task<void> Heartbeats::confirm_held(WorkerId worker) {
  std::vector<JobId> held = replica_.registry.held_jobs(worker);
  std::map<JobId, WallTime> out;  // and when each was dispatched
  store::Query theirs{
      store::Query::By::kWorker, worker.str(), WallTime::max(), limits::kScanMax, {}};
  do {
    Result<store::Page> page = co_await replica_.store.scan(theirs);
    if (!page) co_return;
    for (const job::Record& record : page->records) out[record.id] = record.dispatched_at;
    theirs.cursor = std::move(page->next);
  } while (!theirs.cursor.empty());
  for (const JobId& job : held) {
    if (!out.contains(job)) replica_.registry.release(job);
  }
  const routing::WorkerView* view = replica_.registry.find(worker);
  if (!view || view->ghosts == 0) co_return;
  // Heartbeats may be late: what was dispatched a moment ago is no ghost.
  WallTime before = replica_.clock.wall() - limits::kGhostAgeMin;
  std::vector<store::Ghost> ghosts;
  for (const auto& [job, dispatched_at] : out) {
    if (dispatched_at <= before) ghosts.push_back({job, dispatched_at});
  }
  std::ranges::sort(ghosts, {}, [](const store::Ghost& ghost) {
    return std::pair(ghost.dispatched_at, ghost.job);
  });
  ghosts.resize(std::min(ghosts.size(), static_cast<size_t>(view->ghosts)));
  replica_.ghosts[worker] = std::move(ghosts);
}

Task<void> Heartbeats::keep_confirming() {
  while (co_await replica_.loop.delay(limits::kConfirmHeldEvery)) {
    std::vector<WorkerId> doubtful;
    replica_.registry.visit([&](const routing::WorkerView& worker) {
      if (worker.held > worker.report.active_jobs) doubtful.push_back(worker.report.id);
    });
    for (WorkerId& worker : doubtful) co_await confirm_held(std::move(worker));
  }
}

Task<bus::Verdict> Heartbeats::overhear(bus::Delivery delivery) {
  Result<Packet> packet = read_packet(delivery.payload);
  if (packet && (*packet)->has_job_result()) {
    const cap::JobResult& result = (*packet)->job_result();
    replica_.registry.ended(JobId(result.job_id()), WorkerId(result.worker_id()));
  } else if (packet && (*packet)->has_job_cancel()) {
    replica_.registry.release(JobId((*packet)->job_cancel().job_id()));
  }
  co_return bus::Verdict::ack();
}

}  // namespace fairlead::scheduler
