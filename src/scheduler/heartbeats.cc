#include "scheduler/heartbeats.h"

#include <algorithm>
#include <map>

#include "scheduler/packets.h"

namespace fairlead::scheduler {

Task<bus::Verdict> Heartbeats::handle(bus::Delivery delivery) {
  Result<Packet> packet = read_packet(delivery.payload);
  if (!packet || !(*packet)->has_heartbeat()) {
    replica_.metrics.add(Counter::kUnmarshalFailures, delivery.subject,
                         unreadable_because(delivery.payload));
    co_return bus::Verdict::ack();
  }
  routing::WorkerReport report = report_of((*packet)->heartbeat());
  const MonotonicTime now = replica_.clock.monotonic();
  const routing::WorkerView* known = replica_.registry.find(report.id);
  if (known) replica_.metrics.observe(Histogram::kHeartbeatLag, now - known->last_seen);
  routing::Heard heard = replica_.registry.heartbeat(report, now);
  if (heard.effect == routing::HeartbeatEffect::kRefused) {
    replica_.metrics.add(Counter::kHeartbeatsRefused);
    replica_.log.warning("heartbeat refused",
                         {{"worker_id", report.id.str()}, {"error", heard.problem}});
    co_return bus::Verdict::ack();
  }
  replica_.presence.heard(report.id);
  const routing::WorkerView* view = replica_.registry.find(report.id);
  replica_.ghosts.erase(report.id);
  if (view && view->ghosts > 0) co_await confirm_held(report.id);
  if (heard.effect == routing::HeartbeatEffect::kOpened) co_await waiters_.offer(report.id);
  co_return bus::Verdict::ack();
}

Task<bus::Verdict> Heartbeats::introduce(bus::Delivery delivery) {
  Result<Packet> packet = read_packet(delivery.payload);
  if (!packet || !(*packet)->has_handshake()) {
    replica_.metrics.add(Counter::kUnmarshalFailures, delivery.subject,
                         unreadable_because(delivery.payload));
    co_return bus::Verdict::ack();
  }
  const cap::Handshake& handshake = (*packet)->handshake();
  const auto& versions = handshake.supported_versions();
  if (!versions.empty() && std::ranges::find(versions, 1) == versions.end()) {
    replica_.log.warning(
        "a component does not speak version 1 of the protocol",
        {{"component", handshake.component_id()}, {"sdk_version", handshake.sdk_version()}});
  }
  if (handshake.role() != cap::COMPONENT_ROLE_WORKER) co_return bus::Verdict::ack();
  const WorkerId worker(handshake.component_id());
  const auto& topics = handshake.ready_topics();
  routing::Heard heard =
      replica_.registry.introduce(worker, std::vector<std::string>(topics.begin(), topics.end()));
  if (heard.effect == routing::HeartbeatEffect::kRefused) {
    replica_.log.warning("handshake refused",
                         {{"worker_id", worker.str()}, {"error", heard.problem}});
  }
  if (heard.effect == routing::HeartbeatEffect::kOpened) co_await waiters_.offer(worker);
  co_return bus::Verdict::ack();
}

Task<bus::Verdict> Heartbeats::leave(bus::Delivery delivery) {
  const WorkerId worker(delivery.payload);
  if (!replica_.registry.find(worker)) co_return bus::Verdict::ack();
  replica_.registry.left(worker);
  if (!replica_.registry.held_jobs(worker).empty()) replica_.presence.expect(worker);
  co_return bus::Verdict::ack();
}

Task<void> Heartbeats::confirm_held(WorkerId worker) {
  std::vector<JobId> held = replica_.registry.held_jobs(worker);
  std::map<JobId, WallTime> out;  // and when each was dispatched
  store::Query theirs{
      .by = store::Query::By::kWorker, .text = worker.str(), .limit = limits::kScanMax};
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
  // Heartbeats may be late: what was dispatched a moment ago is no ghost. What was dispatched later
  // than now was so before the clock was set back.
  WallTime now = replica_.clock.wall();
  std::vector<store::Ghost> ghosts;
  for (const auto& [job, dispatched_at] : out) {
    Duration age = now - dispatched_at;
    bool old = age >= limits::kGhostAgeMin || age < -limits::kClockStepMin;
    if (old) ghosts.push_back({job, dispatched_at});
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
