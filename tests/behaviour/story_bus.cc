#include "tests/behaviour/story_bus.h"

#include <algorithm>

#include "base/check.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "routing/placement.h"

namespace fairlead::behaviour {

namespace {

StoryBus::Sent describe(const std::string& subject, const std::string& payload) {
  StoryBus::Sent sent{.subject = subject};
  cordum::agent::v1::BusPacket packet;
  if (!packet.ParseFromString(payload)) return sent;
  if (packet.has_job_request()) {
    sent.job = packet.job_request().job_id();
    sent.epoch = packet.job_request().dispatch().attempt();
  } else if (packet.has_job_result()) {
    sent.job = packet.job_result().job_id();
    sent.error_code = packet.job_result().error_code();
    std::string name = cordum::agent::v1::ErrorCode_Name(packet.job_result().error_code_enum());
    sent.error_enum = name.substr(std::min(name.size(), sizeof("ERROR_CODE_") - 1));
  } else if (packet.has_job_cancel()) {
    sent.job = packet.job_cancel().job_id();
  }
  return sent;
}

std::optional<StoryBus::Of> kind_of(std::string_view subject) {
  if (!routing::worker_of_subject(subject).empty()) return StoryBus::Of::kDispatch;
  if (subject == bus::kDeadLetterSubject) return StoryBus::Of::kDeadLetter;
  if (subject == bus::kCancelSubject) return StoryBus::Of::kCancel;
  return std::nullopt;
}

}  // namespace

void StoryBus::attach(bus::Bus* bus) {
  bus_ = bus;
  if (bus_) return;
  tasks_.drop();
  held_.clear();
}

void StoryBus::order(Fault fault, Of of, size_t count) {
  for (; count > 0; --count) orders_.push_back({fault, of});
}

std::optional<StoryBus::Fault> StoryBus::fault_for(std::string_view subject) {
  std::optional<Of> of = kind_of(subject);
  if (!of) return std::nullopt;
  auto order = std::ranges::find(orders_, *of, &Order::of);
  if (order == orders_.end()) return std::nullopt;
  Fault fault = order->fault;
  orders_.erase(order);
  return fault;
}

Future<Result<bus::Published>> StoryBus::publish(std::string subject, std::string payload,
                                                 std::string id) {
  check(bus_, "nobody publishes while the process is down");
  sent_.push_back(describe(subject, payload));
  std::optional<Fault> fault = fault_for(subject);
  Completer<Result<bus::Published>> answer;
  Future<Result<bus::Published>> later = answer.future();
  Held held{sent_.size() - 1, std::move(subject), std::move(payload), std::move(id),
            std::move(answer)};
  if (!fault) {
    tasks_.spawn(forward(std::move(held)));
    return later;
  }
  switch (*fault) {
    case Fault::kRefuse:
      return bus::Published::kRefused;
    case Fault::kTooLarge:
      return fail(ErrorCode::kInvalid, "the payload is too large");
    case Fault::kLose:
      return bus::Published::kUnknown;
    case Fault::kLoseAnswer:
      tasks_.spawn(forward(std::move(held)));
      return bus::Published::kUnknown;
    case Fault::kHold:
      held_.push_back(std::move(held));
      return later;
    case Fault::kCrashBefore:
      crash_(Crash::kNow);
      return later;
    case Fault::kCrashAfter: {
      tasks_.spawn(forward(std::move(held)));
      crash_(Crash::kAfterDelivery);
      Completer<Result<bus::Published>> nobody;
      return nobody.future();
    }
  }
  return later;
}

Task<void> StoryBus::forward(Held held) {
  Result<bus::Published> published =
      co_await bus_->publish(std::move(held.subject), std::move(held.payload), std::move(held.id));
  sent_[held.sent].taken = published && *published != bus::Published::kRefused;
  held.answer.complete(std::move(published));
}

bool StoryBus::let_go() {
  if (held_.empty()) return false;
  while (!held_.empty()) {
    Held held = std::move(held_.front());
    held_.pop_front();
    tasks_.spawn(forward(std::move(held)));
  }
  return true;
}

Future<Result<std::optional<bool>>> StoryBus::stored(std::string subject, std::string id) {
  return bus_->stored(std::move(subject), std::move(id));
}

Result<std::unique_ptr<bus::Subscription>> StoryBus::subscribe(std::string subject,
                                                               bus::SubscribeOptions options,
                                                               bus::Handler handler) {
  return bus_->subscribe(std::move(subject), std::move(options), std::move(handler));
}

}  // namespace fairlead::behaviour
