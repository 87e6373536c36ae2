#include "tests/behaviour/story_worker.h"

#include <algorithm>

#include "job/request.h"

namespace fairlead::behaviour {

StoryWorker::StoryWorker(Loop& loop, std::string id) : loop_(loop), id_(std::move(id)) {
  report.set_worker_id(id_);
}

Result<void> StoryWorker::connect(bus::Bus& bus) {
  bus_ = &bus;
  for (std::string subject : {"worker." + id_ + ".jobs", std::string(bus::kCancelSubject)}) {
    auto subscription = bus.subscribe(std::move(subject), {}, [this](bus::Delivery delivery) {
      return take(std::move(delivery));
    });
    if (!subscription) return std::unexpected(subscription.error());
    subscriptions_.push_back(*std::move(subscription));
  }
  keep_beating();
  return {};
}

void StoryWorker::disconnect() {
  subscriptions_.clear();
  bus_ = nullptr;
  loop_.cancel(next_beat_);
}

Task<bus::Verdict> StoryWorker::take(bus::Delivery delivery) {
  cap::BusPacket packet;
  packet.ParseFromString(delivery.payload);
  if (packet.has_job_request()) {
    running_.insert(packet.job_request().job_id());
    got_.push_back({packet.job_request(), packet.trace_id()});
  }
  if (packet.has_job_cancel()) cancelled_.insert(packet.job_cancel().job_id());
  co_return bus::Verdict::ack();
}

void StoryWorker::keep_beating() {
  beat();
  next_beat_ = loop_.call_at(loop_.now() + kHeartbeatEvery, [this] { keep_beating(); });
}

void StoryWorker::beat() {
  if (!bus_ || silent_) return;
  int32_t active = active_elsewhere + (counts_jobs ? static_cast<int32_t>(running_.size()) : 0);
  report.set_active_jobs(active);
  cap::BusPacket packet;
  packet.set_trace_id("heartbeat-" + id_);
  packet.set_sender_id(id_);
  *packet.mutable_heartbeat() = report;
  (void)bus_->publish(std::string(bus::kHeartbeatSubject), job::serialise(packet), {});
}

const StoryWorker::Got* StoryWorker::last(const std::string& job) const {
  auto found = std::ranges::find(got_.rbegin(), got_.rend(), job,
                                 [](const Got& got) { return got.request.job_id(); });
  return found == got_.rend() ? nullptr : &*found;
}

}  // namespace fairlead::behaviour
