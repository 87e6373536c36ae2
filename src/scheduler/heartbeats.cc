#include "scheduler/heartbeats.h"

#include <algorithm>

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
  store::Query out{store::Query::By::kWorker, worker.str(), WallTime::max(), limits::kScanMax, {}};
  Result<store::Page> page = co_await replica_.store.scan(std::move(out));
  if (!page) co_return;
  for (const JobId& job : replica_.registry.held_jobs(worker)) {
    auto same = [&](const job::Record& record) { return record.id == job; };
    if (std::ranges::none_of(page->records, same)) replica_.registry.release(job);
  }
  const routing::WorkerView* view = replica_.registry.find(worker);
  if (!view || view->ghosts == 0) co_return;
  // Heartbeats may be late: what was dispatched a moment ago is no ghost.
  WallTime before = replica_.clock.wall() - limits::kGhostAgeMin;
  std::erase_if(page->records,
                [&](const job::Record& record) { return record.dispatched_at > before; });
  std::ranges::sort(page->records, {}, [](const job::Record& record) {
    return std::pair(record.dispatched_at, record.id);
  });
  std::vector<store::Ghost>& ghosts = replica_.ghosts[worker];
  ghosts.clear();
  for (const job::Record& record : page->records) {
    if (ghosts.size() < static_cast<size_t>(view->ghosts)) {
      ghosts.push_back({record.id, record.dispatched_at});
    }
  }
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
