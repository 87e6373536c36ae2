#include "edge/http/api/event_tap.h"

#include "edge/http/http_limits.h"
#include "job/request.h"

namespace fairlead::http {

EventTap::~EventTap() {
  *alive_ = false;
  if (open()) backend_.scheduler.watch({});
}

void EventTap::push(TappedEvent event) {
  bool first = batch_.empty();
  batch_.push_back(std::move(event));
  if (!first) return;
  backend_.loop.post([this, alive = alive_] {
    if (!*alive) return;
    std::vector<TappedEvent> batch;
    batch.swap(batch_);
    sink_(std::move(batch));
  });
}

// A tap on the bus: results and the like name only their job, so its tenant is looked up.
Task<bus::Verdict> EventTap::take(bus::Delivery delivery) {
  TappedEvent event;
  event.is_packet = true;
  if (std::string_view job = job::peek_job_id(delivery.payload); !job.empty()) {
    Result<store::Loaded> loaded = co_await backend_.store.load(JobId(job), {});
    if (loaded && loaded->record) event.tenant = loaded->record->tenant;
  }
  event.bytes = std::move(delivery.payload);
  push(std::move(event));
  co_return bus::Verdict::ack();
}

void EventTap::set_open(bool wanted) {
  if (wanted == open()) return;
  if (!wanted) {
    subscriptions_.clear();
    backend_.scheduler.watch({});
    return;
  }
  for (const char* subject : {"sys.job.>", "sys.heartbeat", "sys.audit.>"}) {
    auto subscription = backend_.bus.subscribe(
        subject, {}, [this](bus::Delivery delivery) { return take(std::move(delivery)); });
    if (subscription) subscriptions_.push_back(*std::move(subscription));
  }
  backend_.scheduler.watch([this](const job::Record& record) {
    TappedEvent event;
    event.record = record;
    push(std::move(event));
  });
}

Task<void> EventTap::keep_watching() {
  MonotonicTime last_read{};
  bool ever = false;
  do {
    MonotonicTime now = backend_.clock.monotonic();
    if (backend_.stream_readers() > 0) {
      last_read = now;
      ever = true;
    }
    set_open(ever && now - last_read < limits::kStreamReplayFor);
  } while (co_await backend_.loop.delay(limits::kHttpSweepEvery));
}

}  // namespace fairlead::http
