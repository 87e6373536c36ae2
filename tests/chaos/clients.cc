#include "tests/chaos/clients.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "cordum/agent/v1/buspacket.pb.h"
#include "job/request.h"

namespace fairlead::chaos {

namespace {

using namespace std::chrono_literals;
namespace cap = cordum::agent::v1;

constexpr size_t kAskers = 24;
constexpr size_t kOnBusMax = 200;
constexpr auto kAnswerWait = 4s;
constexpr auto kAskAgainAfter = 100ms;
constexpr auto kPublishAgainAfter = 2s;
constexpr auto kConnectEvery = 500ms;
constexpr const char* kInbox = "_INBOX.chaos.";

// Every second job of each way may run again when its worker is lost.
bool may_run_again(std::string_view name) {
  return load::number_in(name.substr(name.rfind('-') + 1)) / 2 % 2 == 0;
}

}  // namespace

Clients::Clients(load::asio::io_context& context, ClientOptions options)
    : context_(context),
      options_(std::move(options)),
      bus_(context, "chaos"),
      run_(std::to_string(::getpid())) {
  for (size_t i = 0; i < kAskers; ++i) askers_.push_back(std::make_unique<Asking>());
  bus_.subscribe(std::string(kInbox) + "*", [this](const load::NatsMessage& answer) {
    const std::string job(answer.subject.substr(std::string_view(kInbox).size()));
    const auto known = on_bus_.find(job);
    if (known == on_bus_.end() || answer.payload.contains("\"error\"")) return;
    acknowledged_.push_back({job, "", known->second.sent, now_micros()});
    on_bus_.erase(known);
  });
}

void Clients::submit(bool on) {
  submitting_ = on;
  next_at_ = SteadyClock::now();
}

size_t Clients::unanswered() const {
  const auto asking =
      std::ranges::count_if(askers_, [](const auto& asking) { return !asking->key.empty(); });
  return on_bus_.size() + static_cast<size_t>(asking);
}

void Clients::tick() {
  const auto now = SteadyClock::now();
  if (options_.over_bus && !bus_.connected() && now >= connect_at_) {
    connect_at_ = now + kConnectEvery;
    bus_.connect(options_.nats);
  }
  for (auto& asking : askers_) {
    if (asking->key.empty() || now < asking->until) continue;
    if (asking->waits) {
      give_up_on(*asking);
    } else {
      ask(*asking);
    }
  }
  for (auto& [job, state] : on_bus_) {
    if (now >= state.again_at) publish(job, state);
  }
  const auto pause = std::chrono::duration_cast<SteadyClock::duration>(
      std::chrono::duration<double>(1 / options_.a_second));
  for (; submitting_ && next_at_ <= now; next_at_ += pause) {
    if (!think_of_one(fmt::format("chaos-{}-{}", run_, thought_of_))) break;
    ++thought_of_;
  }
  // What could not be asked for in its time is not made up for.
  next_at_ = std::max(next_at_, now - pause);
}

// False: everybody is busy.
bool Clients::think_of_one(const std::string& name) {
  if (options_.over_bus && thought_of_ % 2 == 1) {
    if (on_bus_.size() >= kOnBusMax) return false;
    OnBus& state = on_bus_[name];
    state.sent = now_micros();
    publish(name, state);
    return true;
  }
  const auto idle =
      std::ranges::find_if(askers_, [](const auto& asking) { return asking->key.empty(); });
  if (idle == askers_.end()) return false;
  (*idle)->key = name;
  (*idle)->sent = now_micros();
  (*idle)->api = thought_of_ / 2 % options_.apis.size();
  ask(**idle);
  return true;
}

void Clients::ask(Asking& asking) {
  asking.until = SteadyClock::now() + kAskAgainAfter;
  if (!asking.client) {
    asking.client = std::make_unique<load::HttpClient>(context_);
    if (!asking.client->connect(options_.apis[asking.api])) return give_up_on(asking);
  }
  asking.waits = true;
  asking.until = SteadyClock::now() + kAnswerWait;
  const std::string body = fmt::format(
      R"({{"prompt":"x","topic":"job.default","idempotency_key":"{}","labels":{{{}}}}})",
      asking.key, may_run_again(asking.key) ? R"("retry_on_worker_loss":"true")" : "");
  asking.client->post(
      "/api/v1/jobs", body,
      [this, &asking](int status, std::string_view answer) { hear(asking, status, answer); },
      fmt::format("X-API-Key: {}\r\n", options_.api_key));
}

void Clients::hear(Asking& asking, int status, std::string_view body) {
  asking.waits = false;
  asking.until = SteadyClock::now() + kAskAgainAfter;
  if (status >= 200 && status < 300) {
    acknowledged_.push_back(
        {std::string(load::json_text(body, "job_id")), asking.key, asking.sent, now_micros()});
    asking.key.clear();
    return;
  }
  // Too much, or not now: asked again. Anything else a client should not hear.
  if (status != 0 && status != 429 && status < 500) {
    surprises_.push_back(fmt::format("a submit was answered with {}: {}", status, body));
  }
  // Given up on with the next tick: the connection, which calls this, must not be taken away now.
  asking.waits = true;
}

// At another replica, over a new connection.
void Clients::give_up_on(Asking& asking) {
  asking.client.reset();
  asking.waits = false;
  asking.api = (asking.api + 1) % options_.apis.size();
  asking.until = SteadyClock::now() + kAskAgainAfter;
}

void Clients::publish(const std::string& job, OnBus& state) {
  state.again_at = SteadyClock::now() + kPublishAgainAfter;
  cap::BusPacket packet;
  packet.set_trace_id(job);
  packet.set_sender_id("chaos");
  packet.set_protocol_version(1);
  cap::JobRequest& request = *packet.mutable_job_request();
  request.set_job_id(job);
  request.set_topic("job.default");
  request.set_tenant_id("default");
  if (may_run_again(job)) (*request.mutable_labels())["retry_on_worker_loss"] = "true";
  bus_.publish("sys.job.submit", job::serialise(packet), kInbox + job);
}

}  // namespace fairlead::chaos
