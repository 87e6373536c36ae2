#include "scheduler/snapshot_keeper.h"

#include <algorithm>

#include "routing/snapshot.h"

namespace fairlead::scheduler {

namespace {

constexpr const char* kWriterLease = "cordum:scheduler:snapshot:writer";
constexpr Duration kWriterLeaseTtl = std::chrono::seconds(10);
constexpr Duration kSnapshotTtl = std::chrono::hours(24);

}  // namespace

Task<std::vector<WorkerId>> SnapshotKeeper::warm_start() {
  std::vector<WorkerId> alive;
  auto cold = [this](const std::string& why) {
    replica_.log.warning("worker snapshot not used, workers are known by their heartbeats",
                         {{"error", why}});
  };
  auto blob = co_await replica_.store.blob(std::string(store::kWorkersKey));
  if (!blob) {
    cold(blob.error().message);
    co_return alive;
  }
  if (!*blob) co_return alive;
  auto snapshot = routing::parse_snapshot((*blob)->bytes);
  if (!snapshot) {
    cold(snapshot.error().message);
    co_return alive;
  }
  const Duration age = std::max(Duration(0), replica_.clock.wall() - snapshot->captured_at);
  const MonotonicTime now = replica_.clock.monotonic();
  if (age > limits::kWorkerTtl) co_return alive;
  for (const routing::WorkerReport& report : snapshot->workers) {
    routing::Heard heard = replica_.registry.heartbeat(report, now - age);
    if (heard.effect != routing::HeartbeatEffect::kRefused) alive.push_back(report.id);
  }
  replica_.log.info("workers known from the snapshot",
                    {{"workers", std::to_string(alive.size())},
                     {"age_seconds", std::to_string(age / std::chrono::seconds(1))}});
  co_return alive;
}

Task<void> SnapshotKeeper::keep_writing() {
  while (co_await replica_.loop.delay(replica_.settings.snapshot_every)) co_await write();
}

Task<void> SnapshotKeeper::write() {
  // A replica that has not heard of all workers yet would make the others forget them.
  if (replica_.presence.is_young() && replica_.registry.size() == 0) co_return;
  const std::string token = replica_.name + "." + replica_.random.token();
  auto taken = co_await replica_.store.acquire(kWriterLease, {token, kWriterLeaseTtl});
  if (!taken || !*taken) co_return;
  const WallTime now = replica_.clock.wall();
  std::vector<WorkerId> alive;
  replica_.registry.visit([&](const routing::WorkerView& worker) {
    if (replica_.registry.alive(worker.report.id, replica_.clock.monotonic())) {
      alive.push_back(worker.report.id);
    }
  });
  store::Blob blob{routing::snapshot_json(replica_.registry, *replica_.pools,
                                          replica_.clock.monotonic(), now, replica_.name),
                   now + kSnapshotTtl};
  auto written = co_await replica_.store.put_workers(std::move(blob), std::move(alive));
  if (!written) {
    replica_.log.warning("worker snapshot not written", {{"error", written.error().message}});
  }
  (void)co_await replica_.store.release(kWriterLease, token);
}

}  // namespace fairlead::scheduler
