#include "edge/http/api/event_tap.h"

#include "edge/http/http_limits.h"
#include "job/codec.h"
#include "job/request.h"

namespace fairlead::http {

size_t bytes_of(const TappedEvent& event) {
  constexpr size_t kEach = 256;
  size_t bytes = kEach + event.bytes.size() + event.job.size();
  if (event.record) bytes += sizeof(job::Record) + job::text_bytes(*event.record);
  return bytes;
}

EventTap::~EventTap() {
  *alive_ = false;
  if (open()) backend_.scheduler.watch({});
}

void EventTap::push(TappedEvent event) {
  bool first = batch_.empty();
  event.tapped = ++tapped_;
  batch_.push_back(std::move(event));
  if (!first) return;
  backend_.loop.post([this, alive = alive_] {
    if (!*alive) return;
    std::vector<TappedEvent> batch;
    batch.swap(batch_);
    outlet_.tell(std::move(batch));
  });
}

// A tap on the bus: results and the like name only their job, so its tenant is looked up.
Task<bus::Verdict> EventTap::take(bus::Delivery delivery) {
  TappedEvent event{.kind = TappedEvent::Kind::kPacket};
  event.passing = delivery.subject == bus::kHeartbeatSubject;
  if (!event.passing) event.job = job::peek_job_id(delivery.payload);
  if (!event.job.empty()) {
    Result<store::Loaded> loaded = co_await backend_.store.load(JobId(event.job), {});
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
    outlet_.closed();
    return;
  }
  for (const char* subject : {"sys.job.>", "sys.heartbeat", "sys.audit.>"}) {
    auto subscription = backend_.bus.subscribe(
        subject, {}, [this](bus::Delivery delivery) { return take(std::move(delivery)); });
    if (subscription) subscriptions_.push_back(*std::move(subscription));
  }
  backend_.scheduler.watch([this](const store::Snapshot& record) { push({.record = record}); });
}

uint64_t EventTap::expect_reader() {
  last_read_ = backend_.clock.monotonic();
  set_open(true);
  return tapped_;
}

Task<void> EventTap::keep_watching() {
  do {
    MonotonicTime now = backend_.clock.monotonic();
    if (backend_.stream_readers() > 0) last_read_ = now;
    set_open(last_read_ && now - *last_read_ < limits::kStreamReplayFor);
  } while (co_await backend_.loop.delay(limits::kHttpSweepEvery));
}

}  // namespace fairlead::http
